// Selections in C++: alone, in parallel regions, by the library's functions.
#include <algorithm>
#include <cmath>
#include <limits>

double nearest(int m, const double *p, const double *q) {
  double best = std::numeric_limits<double>::infinity();
  double at = 0;
  for (int j = 0; j < m; ++j) {
    double d = 0;
    for (int k = 0; k < 3; ++k)
      d += (p[k] - q[3 * j + k]) * (p[k] - q[3 * j + k]);
    if (d < best) {
      best = d;
      at = std::sin(q[3 * j]);
    }
  }
  return m ? std::sqrt(best) + at : 0;
}

void clusters(int n, int m, const double *p, const double *q, double *y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double best = 1e300;
    for (int j = 0; j < m; ++j) {
      double d = 0;
      for (int k = 0; k < 3; ++k)
        d += (p[3 * i + k] - q[3 * j + k]) * (p[3 * i + k] - q[3 * j + k]);
      best = std::min(best, std::exp(0.1 * d));
    }
    y[i] = best;
  }
}

void extremes(int n, const double *x, double *y) {
  double least = 1e300, most = -1e300;
  for (int i = 0; i < n; ++i) {
    least = std::fmin(least, x[i] * x[i]);
    most = std::max(most, x[i]);
  }
  y[0] = least;
  y[1] = most;
}
