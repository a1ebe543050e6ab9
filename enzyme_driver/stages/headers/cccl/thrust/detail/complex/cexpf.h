// The template in the header beside this one is for all types.
#pragma once
#include <thrust/detail/complex/cexp.h>
