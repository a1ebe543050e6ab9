// Numbers that parallel regions read from where they are held in many ways: some are constants, some hold something with a derivative by then.
#include <vector>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <cstdint>
#include <memory>
#include <utility>
#include <functional>
#include <algorithm>
struct P { double a, b; float f; int n; };
// value set from active data through a reference
double alias(const double *x, int n, P p) {
  double &r = p.b;
  r = x[0] * 2;
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += p.b * x[i] * p.a;
  return s;
}
// bits moved as integers
double bits(const double *x, int n, double c) {
  double k = c;
  uint64_t u; std::memcpy(&u, &x[1], 8); 
  std::memcpy(&k, &u, 8);
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += k * x[i];
  return s;
}
// changed between forks by active value
double updated(const double *x, int n, double c, int steps) {
  double total = 0;
  for (int t = 0; t < steps; ++t) {
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; ++i) s += c * x[i] * x[i];
    c = 0.5 + 0.1 * s / n;
    total += s;
  }
  return total;
}
// constant first, then set in a region by one thread
double single_set(const double *x, int n, double c) {
  double k = c, s = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : s)
    for (int i = 0; i < n; ++i) s += k * x[i];
#pragma omp single
    k = s / n;
#pragma omp for reduction(+ : s)
    for (int i = 0; i < n; ++i) s += k * x[i] * x[i];
  }
  return s;
}
struct Member { std::vector<double> v; double scale; std::array<double, 3> w; double sum = 0;
  void run(const double *x) {
#pragma omp parallel for
    for (size_t i = 0; i < v.size(); ++i) v[i] = scale * x[i] + w[i % 3] * x[i] * x[i];
    scale *= 2; w[1] += v[0];
  }
  void total() {
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (size_t i = 0; i < v.size(); ++i) s += v[i] * scale * w[i % 3];
    sum += s;
  } };
double member(const double *x, int n, double c, int steps) {
  Member m{std::vector<double>(n), c, {c, 2 * c, 1.0}};
  for (int t = 0; t < steps; ++t) { m.run(x); m.total(); }
  return m.sum;
}
// object swapped as a whole; pointers to objects
double objects(const double *x, int n, double c, int steps) {
  Member a{std::vector<double>(n), c, {c, 2 * c, 1.0}}, b{std::vector<double>(n), 2 * c, {1, 2, 3}};
  Member *p = &a, *q = &b;
  for (int t = 0; t < steps; ++t) {
    p->run(x);
    q->total();
    std::swap(p, q);
    if (t == 1) std::swap(a, b);
  }
  return a.sum + 2 * b.sum;
}
// lambda by reference & std::function
double lambdas(const double *x, int n, double c) {
  double k = c, m = 0;
  auto set = [&](double v) { k += v; m = std::max(m, v); };
  set(x[0]); set(x[1] * x[1]);
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += k * x[i] + m;
  return s;
}
double complexes(const double *x, int n, double c) {
  std::complex<double> z(c, x[2]), w(c, 1.0);
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += std::real(z * x[i] * w) + std::imag(w * z) * x[i];
  return s;
}
// a union and float members
union U { double d; uint64_t i; };
double unions(const double *x, int n, double c) {
  U u; u.d = c; 
  if (n > 3) u.d = x[3];
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += u.d * x[i];
  return s;
}
// firstprivate and lastprivate, sections, nested functions
double privates(const double *x, int n, double c) {
  double f = c, l = 0, s = 0;
#pragma omp parallel for firstprivate(f) lastprivate(l) reduction(+ : s)
  for (int i = 0; i < n; ++i) { f += x[i] * 0.0; l = c * x[i]; s += c * x[i] * x[i]; }
  double s2 = 0;
#pragma omp parallel for reduction(+ : s2)
  for (int i = 0; i < n; ++i) s2 += l * x[i];
  return s + s2;
}
// array of constants, one of which is changed through a pointer that is chosen
double chosen(const double *x, int n, double c, int which) {
  double w[4] = {c, 2 * c, 3 * c, 4 * c}, z[4] = {1, 2, 3, 4};
  double *to = which ? w : z;
  to[which % 4] = x[n / 2];
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += w[i % 4] * x[i] + z[i % 4] * x[i] * x[i];
  return s;
}
// heap number
double heap(const double *x, int n, double c) {
  auto k = std::make_shared<double>(c); auto j = std::make_unique<double>(c);
  *k *= x[0];
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += *k * x[i] + *j * x[i] * x[i];
  return s;
}
struct Net { std::vector<double> w; const double *x; int n; double rate;
  void fit(int steps) { for (int t = 0; t < steps; ++t) { std::vector<double> g(w.size());
#pragma omp parallel for
      for (size_t j = 0; j < w.size(); ++j) { double s = 0; for (int i = 0; i < n; ++i) s += (w[j] - x[i]) * (w[j] - x[i]) * (w[j] + j); g[j] = s / n; }
#pragma omp parallel for
      for (size_t j = 0; j < w.size(); ++j) w[j] -= rate * g[j];
      rate *= 0.9; } } };
double fit(const double *x, int n, int m, double rate, int steps) {
  Net net{std::vector<double>(m, 0.5), x, n, rate};
  net.fit(steps);
  double s = 0; for (double v : net.w) s += v * v;
  return s;
}
static double coefficient = 0.3;
double global(const double *x, int n, double c) {
  double s = 0, k = coefficient * c;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += k * x[i] * coefficient;
  return s;
}
struct Fields { double *rho, *vel; const double *gamma; double *out[2]; int n; double dt; struct { double cfl; int flag; } inner; };
void euler(const Fields &f, int steps) {
  double *from = f.out[0], *to = f.out[1];
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 1; i < f.n - 1; ++i)
      to[i] = from[i] * f.rho[i] + f.dt * f.inner.cfl * f.gamma[i] * f.vel[i] * from[i - 1];
    std::swap(from, to);
  }
#pragma omp parallel for
  for (int i = 0; i < f.n; ++i) f.vel[i] = from[i] * to[i] * f.dt;
}
