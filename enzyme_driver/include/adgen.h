// What a file can say to adgen of its functions. Other compilers see nothing of it.
//
//   #include <adgen.h>
//   ADGEN_INACTIVE void log_event(double value);                    called as it is; what it computes counts as
//   constant ADGEN_GRADIENT(soft_gradient) double soft(double x, double y);  has a gradient of its own: void
//   soft_gradient(double x, double y, double cotangent, double *d_x, double *d_y);
//
// With what __device__ functions need before their types; the gradient is neither static nor inline.
#pragma once

#ifdef __ADGEN__
#define ADGEN_INACTIVE __attribute__((annotate("adgen:inactive")))
#define ADGEN_GRADIENT(gradient) __attribute__((annotate("adgen:gradient=" #gradient)))
#else
#define ADGEN_INACTIVE
#define ADGEN_GRADIENT(gradient)
#endif
