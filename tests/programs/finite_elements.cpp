// Diffusion on a triangle mesh: the coefficient at the cells in, the misfit at sensors out. The mesh is moved into the problem, the
// matrix gets its pattern from sets of neighbours, and conjugate gradients take any preconditioner.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace fem {

using Point = std::array<double, 2>;

struct Mesh {
  std::vector<Point> nodes;
  std::vector<std::array<int, 3>> cells;
  std::vector<bool> fixed;

  static Mesh square(int n) {
    if (n < 1) throw std::invalid_argument("a mesh needs a cell");
    Mesh m;
    m.nodes.reserve((n + 1) * (n + 1));
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        m.nodes.push_back({double(i) / n, double(j) / n});
        m.fixed.push_back(i == 0 || j == 0 || i == n || j == n);
      }
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int a = j * (n + 1) + i, d = a + n + 2;
        m.cells.push_back({a, a + 1, d});
        m.cells.push_back({a, d, a + n + 1});
      }
    return m;
  }
};

class Matrix {
public:
  explicit Matrix(const std::vector<std::set<int>> &pattern) : begin_(pattern.size() + 1, 0) {
    for (std::size_t i = 0; i < pattern.size(); ++i) begin_[i + 1] = begin_[i] + static_cast<int>(pattern[i].size());
    for (const auto &row : pattern) column_.insert(column_.end(), row.begin(), row.end());
    value_.assign(column_.size(), 0.0);
  }
  double &operator()(int i, int j) {
    const auto row = column_.begin() + begin_[i];
    return value_[std::lower_bound(row, column_.begin() + begin_[i + 1], j) - column_.begin()];
  }
  double operator()(int i, int j) const { return const_cast<Matrix &>(*this)(i, j); }
  void pin(int i) {
    for (int k = begin_[i]; k < begin_[i + 1]; ++k) {
      value_[k] = column_[k] == i;
      if (column_[k] != i) (*this)(column_[k], i) = 0;
    }
  }
  std::vector<double> operator*(const std::vector<double> &x) const {
    std::vector<double> y(rows());
#pragma omp parallel for
    for (int i = 0; i < rows(); ++i)
      for (int k = begin_[i]; k < begin_[i + 1]; ++k) y[i] += value_[k] * x[column_[k]];
    return y;
  }
  int rows() const { return static_cast<int>(begin_.size()) - 1; }

private:
  std::vector<int> begin_, column_;
  std::vector<double> value_;
};

struct Coefficient {
  virtual ~Coefficient() = default;
  virtual double operator()(Point x, std::size_t cell) const = 0;
};
class CellWise final : public Coefficient {
public:
  explicit CellWise(const double *logarithm) : logarithm_(logarithm) {}
  double operator()(Point x, std::size_t cell) const override { return std::exp(logarithm_[cell]) * (1 + x[0] * x[1]); }

private:
  const double *logarithm_;
};

class Problem {
public:
  Problem(Mesh mesh, std::unique_ptr<Coefficient> k) : mesh_(std::move(mesh)), k_(std::move(k)) {}

  std::pair<Matrix, std::vector<double>> assembled(double source) const {
    std::vector<std::set<int>> pattern(mesh_.nodes.size());
    for (const auto &cell : mesh_.cells)
      for (int i : cell) pattern[i].insert(cell.begin(), cell.end());
    Matrix A(pattern);
    std::vector<double> b(mesh_.nodes.size());
    for (std::size_t e = 0; e < mesh_.cells.size(); ++e) {
      const auto &cell = mesh_.cells[e];
      const auto [area, slopes] = geometry(cell);
      const double k = (*k_)(mesh_.nodes[cell[0]], e);
      for (int i = 0; i < 3; ++i) {
        b[cell[i]] += source * area / 3;
        for (int j = 0; j < 3; ++j)
          A(cell[i], cell[j]) += k * area * std::inner_product(slopes[i].begin(), slopes[i].end(), slopes[j].begin(), 0.0);
      }
    }
    for (std::size_t i = 0; i < b.size(); ++i)
      if (mesh_.fixed[i]) {
        A.pin(static_cast<int>(i));
        b[i] = 0;
      }
    return {std::move(A), std::move(b)};
  }

private:
  std::pair<double, std::array<Point, 3>> geometry(const std::array<int, 3> &cell) const {
    const auto &[a, b, c] = std::tie(mesh_.nodes[cell[0]], mesh_.nodes[cell[1]], mesh_.nodes[cell[2]]);
    const double det = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    std::array<Point, 3> slopes{};
    slopes[1] = {(c[1] - a[1]) / det, (a[0] - c[0]) / det};
    slopes[2] = {(a[1] - b[1]) / det, (b[0] - a[0]) / det};
    for (int k = 0; k < 2; ++k) slopes[0][k] = -slopes[1][k] - slopes[2][k];
    return {det / 2, slopes};
  }

  Mesh mesh_;
  std::unique_ptr<Coefficient> k_;
};

template <class Preconditioner>
std::vector<double> conjugate_gradients(const Matrix &A, const std::vector<double> &b, Preconditioner precondition) {
  auto dot = [](const auto &u, const auto &v) { return std::inner_product(u.begin(), u.end(), v.begin(), 0.0); };
  std::vector<double> x(b.size()), r = b, z = precondition(r), p = z;
  double rz = dot(r, z);
  for (int step = 0; step < 200; ++step) {
    if (std::sqrt(dot(r, r)) < 1e-13) return x;
    const auto Ap = A * p;
    const double alpha = rz / dot(p, Ap);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * Ap[i];
    }
    z = precondition(r);
    const double next = dot(r, z), beta = next / std::exchange(rz, next);
    std::transform(z.begin(), z.end(), p.begin(), p.begin(), [beta](double a, double c) { return a + beta * c; });
  }
  throw std::runtime_error("no convergence");
}

} // namespace fem

double misfit(const double *log_conductivity, int n, const double *sensors, int count, double source) {
  const fem::Problem problem(fem::Mesh::square(n), std::make_unique<fem::CellWise>(log_conductivity));
  const auto [A, b] = problem.assembled(source);
  const auto u = fem::conjugate_gradients(A, b, [&A = A](const std::vector<double> &r) {
    std::vector<double> z(r);
    for (int i = 0; i < A.rows(); ++i) z[i] /= A(i, i);
    return z;
  });
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double d = u[(7 * i + n + 2) % u.size()] - sensors[i];
    sum += d * d;
  }
  return sum;
}
