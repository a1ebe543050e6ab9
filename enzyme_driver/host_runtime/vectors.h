// Vectors that a function returns, or changes the size of (passes/Autodiff/OwnVectors.h).
#pragma once

#include <string>

// The first whose size is not that of the array that was given for it, in words; empty where each fits. Forgets it.
std::string adgen_misfit();
