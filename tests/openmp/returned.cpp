// C++ functions that return structs: in registers, packed into words, through an address, made by a constructor.
#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

std::pair<double, double> cartesian(double r, double phi) { return {r * std::cos(phi), r * std::sin(phi)}; }

struct Mean {
  float x, y, z;
};
Mean mean(const float *points, int n) {
  Mean sum = {0, 0, 0};
  for (int i = 0; i < n; ++i) {
    sum.x += points[3 * i] * points[3 * i] / n;
    sum.y += std::sin(points[3 * i + 1]) / n;
    sum.z += points[3 * i + 2] * points[3 * i] / n;
  }
  return sum;
}

struct Largest { // both in one word
  float value;
  int at;
};
Largest largest(const float *x, int n) {
  Largest found = {x[0] * x[0], 0};
  for (int i = 1; i < n; ++i)
    if (x[i] * x[i] > found.value)
      found = {x[i] * x[i], i};
  return found;
}

struct Matrix {
  double m[2][2];
  int steps;
};
Matrix power(const double *a, double scale, int n) {
  Matrix p = {{{1, 0}, {0, 1}}, n};
  for (int k = 0; k < n; ++k) {
    Matrix q = {};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int l = 0; l < 2; ++l)
          q.m[i][j] += p.m[i][l] * a[2 * l + j] * scale;
    q.steps = p.steps;
    p = q;
  }
  return p;
}

class Interval { // copied by a function of its own: never in registers
public:
  Interval(double low, double high) : low(std::min(low, high)), high(std::max(low, high)) {}
  Interval(const Interval &other) : low(other.low), high(other.high) {}
  double low, high;
};
Interval range(const double *x, int n) {
  Interval found(x[0], std::exp(x[0]));
  for (int i = 1; i < n; ++i) {
    found.low += x[i] * found.high;
    found.high *= 1 + x[i] * x[i];
  }
  return found;
}

std::complex<double> rotated(std::complex<double> z, double phi) {
  return z * z * std::complex<double>(std::cos(phi), std::sin(phi));
}

struct Nested {
  Mean inner;
  double weight;
};
Nested both(const double *x, double *y, int n) {
  Nested made = {{1, 0, 0}, 0};
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] * x[i];
    made.weight += y[i] * y[i];
    made.inner.z += float(x[i]);
  }
  return made;
}

std::pair<int, int> counted(const double *x, int n) {
  int above = 0;
  for (int i = 0; i < n; ++i)
    above += x[i] > 0;
  return {above, n - above};
}

std::pair<double, double> bounds(int n) { return {-n, n}; }

struct View {
  double *begin;
  int n;
};
View shifted(double *x, int n) { return {x + 1, n - 1}; }

std::vector<std::vector<double>> rows(const double *x, int n) { return {std::vector<double>(x, x + n)}; }
