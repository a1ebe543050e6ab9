// What dual numbers are carried through in test_witness.py.
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

// The squares of the three smallest, by a sorted vector and by a map.
double containers(const double *x, int n) {
  std::vector<double> sorted;
  for (int i = 0; i < n; i++) sorted.push_back(x[i]);
  std::sort(sorted.begin(), sorted.end());
  std::map<int, double> first;
  for (int i = 2; i >= 0; i--) first[i] = sorted[i];
  double sum = 0;
  for (auto &[key, value] : first) sum += value * value;
  return sum;
}

struct Shape {
  virtual ~Shape() = default;
  virtual double size(double x) const = 0;
};
struct Cube : Shape {
  double size(double x) const override { return x * x * x; }
};
struct Square : Shape {
  double size(double x) const override { return x * x; }
};

double shapes(const double *x, int n) {
  std::unique_ptr<Shape> both[] = {std::make_unique<Cube>(), std::make_unique<Square>()};
  double sum = 0;
  for (int i = 0; i < 2 && i < n; i++) sum += both[i]->size(x[i]);
  return sum;
}

double teams(const double *x, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sum;
}

double power(double x, int n) { return n == 0 ? 1 : n % 2 ? x * power(x, n - 1) : power(x * x, n / 2); }

static double times(double x, double y) { return x * y; }

double powers(const double *x, int n) {
  double (*operation)(double, double) = n > 1 ? times : nullptr;
  return operation(power(x[0], 5), x[1]);
}

double checked(double x, int n) {
  if (n > 3) throw std::runtime_error("too many");
  return x;
}

double caught(const double *x, int n) {
  double sum = 0;
  try {
    sum = checked(x[0], n);
  } catch (const std::runtime_error &) {
    sum = x[0] * x[1];
  }
  return sum;
}
