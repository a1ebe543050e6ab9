#pragma once
#include <adgen_torch.h>
