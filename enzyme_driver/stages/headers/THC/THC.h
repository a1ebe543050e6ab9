#pragma once
#if !__has_include(<c10/core/Device.h>) // which newer versions have, without this header
#include <adgen_torch.h>
struct THCState;
#endif
