// C++ functions that return vectors, change their size, or take their memory away.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

using Vector = std::vector<double>;

Vector scaled(const Vector &x, double a) {
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = a * x[i] * x[i];
  return y;
}

std::vector<float> positive(std::vector<float> x) {
  std::vector<float> kept;
  for (float v : x)
    if (v > 0)
      kept.push_back(std::sin(v));
  return kept;
}

Vector powers(double a, double b) { return {a, a * b, a * b * b, std::exp(a)}; }

static Vector squared(const Vector &x) {
  Vector y = x;
  for (double &v : y)
    v *= v;
  return y;
}
Vector twice(const Vector &x) { return squared(squared(x)); }

Vector sorted(Vector x) { // the memory of the argument is what is returned
  std::sort(x.begin(), x.end());
  return x;
}

Vector both(const Vector &x, Vector &y) {
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = x[i] * x[i] * x[i];
  Vector z(x);
  std::reverse(z.begin(), z.end());
  return z;
}

std::vector<std::complex<double>> roots(const Vector &x) {
  std::vector<std::complex<double>> r(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    r[i] = {std::cos(x[i]), x[i] * x[i]};
  return r;
}

struct Point {
  double x, y;
};
std::vector<Point> points(const Vector &x) {
  std::vector<Point> p;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2)
    p.push_back({x[i] * x[i + 1], x[i] + x[i + 1]});
  return p;
}

Vector threads(const Vector &x) {
  Vector y(x.size());
#pragma omp parallel for
  for (int i = 0; i < int(x.size()); ++i)
    y[i] = std::exp(x[i]);
  return y;
}

Vector total(const Vector &x) {
  if (x.empty())
    throw std::invalid_argument("nothing to add up");
  return {std::accumulate(x.begin(), x.end(), 0.0)};
}

std::vector<int> signs(const Vector &x) {
  std::vector<int> s;
  for (double v : x)
    s.push_back(v > 0 ? 1 : -1);
  return s;
}

void resized(const Vector &x, Vector &y) {
  y.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = x[i] * x[i];
}

void pushed(const Vector &x, Vector &y) {
  y.clear();
  for (double v : x)
    y.push_back(std::sin(v));
}

void assigned(const Vector &x, Vector &y) {
  y.assign(x.size(), 1.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] += x[i] * x[i];
}

void copied(const Vector &x, Vector &y) { y = x; }

void moved(Vector x, Vector &y) {
  for (double &v : x)
    v *= v;
  y = std::move(x);
}

void swapped(Vector &x, Vector &y) {
  std::swap(x, y);
  for (double &v : x)
    v *= v;
}

void inserted(Vector &y, double a) {
  y.insert(y.begin() + 1, a);
  y.pop_back();
  y[0] *= y[2];
}

double grown(Vector x) {
  x.push_back(x[0] * x[1]);
  x.push_back(3 * x[2]);
  double sum = 0;
  for (double v : x)
    sum += v * v;
  return sum;
}

std::vector<Vector> nested(const Vector &x) { return {x, x}; }
std::vector<bool> bits(const Vector &x) { return std::vector<bool>(x.size()); }

struct Model {
  Vector weights;
  double scale;
  Vector more;
};
double appended(Model m) {
  m.weights.push_back(m.weights[0] * m.more[1]);
  Vector taken = std::move(m.more);
  double sum = taken[2] * taken[2];
  for (double v : m.weights)
    sum += v * v * m.scale;
  return sum;
}

struct Marked {
  double value;
  int at;
  float root;
};
std::vector<Marked> marked(const Vector &x) {
  std::vector<Marked> made(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    made[i] = {x[i] * x[i], int(i), float(std::sqrt(x[i]))};
  return made;
}
void squeezed(std::vector<Marked> &marks, Vector &y) {
  Vector values;
  for (const Marked &m : marks)
    values.push_back(m.value * m.root);
  y = values;
  marks.pop_back();
  marks.push_back({y[0], 7, 1});
}
