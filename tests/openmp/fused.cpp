// Loops whose iterations are reversed right after they were computed, and such as may not be.
#include <cmath>

// Points turned by an axis, which is zero for some, and projected, each by a camera of which others may be the same.
void projected(const double *axes, const double *points, const int *camera, int count, double *places) {
  for (int i = 0; i < count; i++) {
    const double *a = axes + 3 * camera[i], *p = points + 3 * i;
    const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    double x = p[0], y = p[1], z = 4 + p[2];
    if (square != 0) {
      const double angle = std::sqrt(square), c = std::cos(angle), s = std::sin(angle) / angle;
      x = c * p[0] + s * (a[1] * p[2] - a[2] * p[1]);
      y = c * p[1] + s * (a[2] * p[0] - a[0] * p[2]);
      z = 4 + c * p[2] + s * (a[0] * p[1] - a[1] * p[0]);
    }
    places[2 * i] = x / z;
    places[2 * i + 1] = y / z;
  }
}

// Each element is stored twice: the second store's reversal comes first.
void twice(const double *x, int n, double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = std::sin(x[i]);
    y[i + 1] = std::cos(x[i]);
  }
}

// An iteration reads what the one before has stored.
void chained(const double *x, int n, double *y) {
  y[0] = x[0];
  for (int i = 1; i < n; i++)
    y[i] = std::sin(y[i - 1] * x[i]);
}

void robust(const double *x, const double *y, int n, double *loss) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double r = x[i] - y[i];
    sum += std::fabs(r) < 1 ? 0.5 * r * r : std::fabs(r) - 0.5;
  }
  *loss = sum;
}
