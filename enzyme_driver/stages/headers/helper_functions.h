// Declarations in place of a header of NVIDIA's samples that is not installed: host code is only parsed.
#pragma once
#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <iostream>
#include <sstream>
#include <vector>
