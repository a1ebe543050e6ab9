// Functions that the tests of operators call.
#include <stdexcept>

double weighted(const double *x, const double *w, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += w[i] * x[i] * x[i];
  return sum;
}

void checked(const double *x, double *y, int n) {
  for (int i = 0; i < n; ++i) {
    if (x[i] < 0)
      throw std::runtime_error("a negative number");
    y[i] = x[i] * x[i];
  }
}
