#pragma once
#include <ATen/NumericLimits.cuh>
