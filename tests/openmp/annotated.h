// What a file says of its functions with the macros of adgen.h; CALLED is what functions need before their types.
#include <adgen.h>

CALLED void gradient_of_hard(double x, double cotangent, double *d_x) { *d_x = x > 0 ? 7 * cotangent : 0; }

namespace shapes {
ADGEN_GRADIENT(gradient_of_hard) CALLED double hard(double x) { return x > 0 ? 3 * x : 0; }
ADGEN_INACTIVE CALLED double level(double x) { return 2 * x; }
} // namespace shapes

CALLED double both(double x) { return shapes::hard(x) + shapes::level(x) * x; }
