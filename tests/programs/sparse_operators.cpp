// Sparse operators: expression templates for vectors, CSR and COO by CRTP over raw pointers, exponentials of matrices,
// PageRank, shortest paths by a priority queue and by relaxation.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

// --- expression templates
template <class E>
struct Expr {
    const E &self() const { return static_cast<const E &>(*this); }
    double operator[](std::size_t i) const { return self()[i]; }
    std::size_t size() const { return self().size(); }
};

class Vector : public Expr<Vector> {
    std::vector<double> v_;

public:
    explicit Vector(std::size_t n, double value = 0) : v_(n, value) {}
    Vector(const double *from, std::size_t n) : v_(from, from + n) {}
    template <class E>
    Vector(const Expr<E> &e) : v_(e.size())
    {
        for (std::size_t i = 0; i < v_.size(); ++i)
            v_[i] = e[i];
    }
    template <class E>
    Vector &operator=(const Expr<E> &e)
    {
        for (std::size_t i = 0; i < v_.size(); ++i)
            v_[i] = e[i];
        return *this;
    }
    double operator[](std::size_t i) const { return v_[i]; }
    double &operator[](std::size_t i) { return v_[i]; }
    std::size_t size() const { return v_.size(); }
};

template <class A, class B, class Op>
struct Binary : Expr<Binary<A, B, Op>> {
    const A &a;
    const B &b;
    Binary(const A &x, const B &y) : a(x), b(y) {}
    double operator[](std::size_t i) const { return Op::apply(a[i], b[i]); }
    std::size_t size() const { return a.size(); }
};
template <class A>
struct Scaled : Expr<Scaled<A>> {
    double s;
    const A &a;
    Scaled(double x, const A &y) : s(x), a(y) {}
    double operator[](std::size_t i) const { return s * a[i]; }
    std::size_t size() const { return a.size(); }
};
struct Plus {
    static double apply(double a, double b) { return a + b; }
};
struct Minus {
    static double apply(double a, double b) { return a - b; }
};
struct Times {
    static double apply(double a, double b) { return a * b; }
};
template <class A, class B>
auto operator+(const Expr<A> &a, const Expr<B> &b)
{
    return Binary<A, B, Plus>(a.self(), b.self());
}
template <class A, class B>
auto operator-(const Expr<A> &a, const Expr<B> &b)
{
    return Binary<A, B, Minus>(a.self(), b.self());
}
template <class A, class B>
auto operator*(const Expr<A> &a, const Expr<B> &b)
{
    return Binary<A, B, Times>(a.self(), b.self());
}
template <class A>
auto operator*(double s, const Expr<A> &a)
{
    return Scaled<A>(s, a.self());
}
template <class E>
double sum(const Expr<E> &e)
{
    double s = 0;
    for (std::size_t i = 0; i < e.size(); ++i)
        s += e[i];
    return s;
}

// --- matrices
template <class M>
struct Operator {
    Vector apply(const Vector &x) const
    {
        Vector y(x.size());
        static_cast<const M &>(*this).multiply(x, y);
        return y;
    }
};

struct Csr : Operator<Csr> {
    const int *rows, *columns;
    const double *values;
    int n;
    Csr(const int *r, const int *c, const double *v, int size) : rows(r), columns(c), values(v), n(size) {}
    void multiply(const Vector &x, Vector &y) const
    {
#pragma omp parallel for schedule(static, 2)
        for (int i = 0; i < n; ++i) {
            double s = 0;
            for (int k = rows[i]; k < rows[i + 1]; ++k)
                s += values[k] * x[columns[k]];
            y[i] = s;
        }
    }
};

struct Coo : Operator<Coo> {
    const int *i, *j;
    const double *values;
    int entries;
    Coo(const int *r, const int *c, const double *v, int count) : i(r), j(c), values(v), entries(count) {}
    void multiply(const Vector &x, Vector &y) const
    {
#pragma omp parallel for
        for (int k = 0; k < entries; ++k) {
            const double product = values[k] * x[j[k]];
#pragma omp atomic
            y[i[k]] += product;
        }
    }
};

// exp(t A) b by scaled Taylor steps
template <class M>
Vector exponential(const Operator<M> &a, Vector b, double t, int steps, int terms)
{
    for (int s = 0; s < steps; ++s) {
        Vector term = b;
        for (int k = 1; k <= terms; ++k) {
            term = (t / (steps * k)) * a.apply(term);
            b = b + term;
        }
    }
    return b;
}

double csr_exponential(const int *rows, const int *columns, const double *values, const double *start, int n,
                       double t)
{
    const Csr a(rows, columns, values, n);
    const Vector b(start, n);
    const Vector e = exponential(a, b, t, 3, 6);
    return sum(e * e - 0.5 * e);
}

double coo_exponential(const int *i, const int *j, const double *values, const double *start, int n, int entries,
                       double t)
{
    const Vector b(start, n);
    const Vector e = exponential(Coo(i, j, values, entries), b, t, 2, 5);
    return sum(e * b + 0.1 * e);
}

// damped Jacobi on (I - d A)
void page_rank(const int *rows, const int *columns, const double *values, double *rank, int n, double damping,
               int sweeps)
{
    const Csr a(rows, columns, values, n);
    Vector r(n, 1.0 / n);
    const Vector base(n, (1 - damping) / n);
    for (int s = 0; s < sweeps; ++s) {
        const Vector ar = a.apply(r);
        r = base + damping * ar;
        const double norm = sum(r);
        r = (1 / norm) * r;
    }
    for (int k = 0; k < n; ++k)
        rank[k] = r[k];
}

// Dijkstra with a priority queue: length of the shortest path to every node
double shortest(const int *rows, const int *columns, const double *weights, int n, int source, double *distance)
{
    using Item = std::pair<double, int>;
    std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
    for (int k = 0; k < n; ++k)
        distance[k] = 1e30;
    distance[source] = 0;
    queue.push({0.0, source});
    while (!queue.empty()) {
        const auto [d, u] = queue.top();
        queue.pop();
        if (d > distance[u])
            continue;
        for (int e = rows[u]; e < rows[u + 1]; ++e) {
            const double to = distance[u] + weights[e];
            if (to < distance[columns[e]]) {
                distance[columns[e]] = to;
                queue.emplace(to, columns[e]);
            }
        }
    }
    double total = 0;
    for (int k = 0; k < n; ++k)
        if (distance[k] < 1e29)
            total += distance[k];
    return total;
}

double bellman_ford(const int *from, const int *to, const double *weights, int n, int edges)
{
    std::vector<double> d(n, 1e30);
    d[0] = 0;
    bool changed = true;
    for (int round = 0; round < n && changed; ++round) {
        changed = false;
        for (int e = 0; e < edges; ++e)
            if (d[from[e]] + weights[e] < d[to[e]]) {
                d[to[e]] = d[from[e]] + weights[e];
                changed = true;
            }
    }
    return std::accumulate(d.begin(), d.end(), 0.0, [](double s, double v) { return v < 1e29 ? s + v * v : s; });
}

int main()
{
    const int rows[] = {0, 1, 2}, columns[] = {1, 0};
    const double v[] = {0.5, 0.25}, s[] = {1, 1};
    std::printf("%g\n", csr_exponential(rows, columns, v, s, 2, 1.0));
}
