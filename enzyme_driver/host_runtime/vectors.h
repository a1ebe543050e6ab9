// Vectors that a function returns, or changes the size of (passes/Autodiff/OwnVectors.h).
#pragma once

#include <string>

// Whether the size of one is not that of the array that was given for it. Each call of a function asks: a plain
// variable, which is what __thread says, lies a few instructions away.
extern __attribute__((visibility("hidden"))) __thread bool adgen_misfits;

// The first of them, in words.
std::string adgen_misfit();
