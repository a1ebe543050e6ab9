// C++ on the host, without OpenMP: what people build functions from.
#include <adgen.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

double vectors(const double *x, int n)
{
    std::vector<double> kept(x, x + n), squares;
    for (const double each : kept) squares.push_back(each * each);
    return std::accumulate(squares.begin(), squares.end(), 0.0) / squares.size();
}

void vector_of_vectors(const double *x, double *y, int n)
{
    std::vector<std::vector<double>> rows(4, std::vector<double>(n));
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < n; ++i) rows[k][i] = std::pow(x[i], k + 1);
    for (int i = 0; i < n; ++i) y[i] = rows[0][i] * rows[3][n - 1 - i] + rows[2][i];
}

double rows_behind_pointers(double **matrix, const double *x, int n)
{
    double total = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) total += x[i] * matrix[i][j] * matrix[j][i] * x[j];
    return total;
}

void lambdas(const double *x, double *y, int n)
{
    const double scale = x[0];
    const auto bent = [scale](double v) { return scale * v * v; };
    const auto twice = [&](auto f, double v) { return f(f(v)); };
    for (int i = 0; i < n; ++i) y[i] = twice(bent, x[i]);
}

double algorithms(const double *x, const double *w, int n)
{
    std::vector<double> both(n);
    std::transform(x, x + n, w, both.begin(), [](double a, double b) { return std::sin(a) * b; });
    return std::inner_product(both.begin(), both.end(), x, 0.0);
}

double arrays_and_tuples(const double *x, int n)
{
    double total = 0;
    for (int i = 2; i < n; ++i) {
        const std::array<double, 3> last{x[i - 2], x[i - 1], x[i]};
        const auto [sum, product] = std::make_pair(last[0] + last[1], last[1] * last[2]);
        total += std::get<1>(std::tuple<int, double>(i, sum * product));
    }
    return total;
}

double complex_numbers(const double *x, const double *w, int n)
{
    std::complex<double> sum = 0;
    for (int i = 0; i < n; ++i) sum += std::complex<double>(x[i], w[i]) * std::complex<double>(w[i], -x[0]);
    return std::norm(sum) / n;
}

void complex_functions(const double *x, double *y, int n)
{
    for (int i = 0; i < n; ++i) {
        const std::complex<double> z = std::polar(x[i], 0.3) + std::exp(std::complex<double>(0.1 * x[i], x[i]));
        y[i] = std::abs(z) + std::real(z * std::conj(z) / (1.0 + z));
    }
}

double exceptions(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        if (x[i] < 0) throw std::domain_error("a root of a negative number");
        sum += std::sqrt(x[i]);
    }
    return sum;
}

struct Shape {
    virtual ~Shape() = default;
    virtual double area(double size) const = 0;
};
struct Disc final : Shape {
    double area(double size) const override { return 3.14159 * size * size; }
};

double devirtualised(const double *x, int n)
{
    const Disc disc;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += disc.area(x[i]);
    return sum;
}

class Law {
public:
    virtual ~Law() = default;
    virtual void print(std::ostream &to) const { to << "a law" << std::endl; }
    virtual std::string name() const = 0;
    virtual double energy(double stretch) const = 0;
    virtual std::complex<double> response(double frequency) const = 0;
};

class Spring : public Law {
    double stiffness_;

public:
    explicit Spring(double stiffness) : stiffness_(stiffness) {}
    std::string name() const override { return "spring"; }
    double energy(double stretch) const override { return stiffness_ * stretch * stretch; }
    std::complex<double> response(double) const override { return stiffness_; }
};

class Damper : public Law {
    double viscosity_;

public:
    explicit Damper(double viscosity) : viscosity_(viscosity) {}
    std::string name() const override { return "damper of " + std::to_string(viscosity_); }
    double energy(double stretch) const override { return std::exp(viscosity_ * stretch); }
    std::complex<double> response(double frequency) const override { return {1, viscosity_ * frequency}; }
};

double virtual_calls(const double *x, const double &coefficient, int n)
{
    std::vector<std::unique_ptr<Law>> laws;
    for (int i = 0; i < n; ++i) {
        if (i % 2)
            laws.push_back(std::make_unique<Spring>(coefficient));
        else
            laws.push_back(std::make_unique<Damper>(coefficient));
    }
    double sum = 0;
    for (int i = 0; i < n; ++i)
        if (laws[i]->energy(x[i]) > 0.8) // only in a condition
            sum += std::norm(laws[i]->response(x[i]));
        else
            sum += coefficient * x[i];
    return sum;
}

double root_of_function(const double *x, const double &coefficient, int n)
{
    const std::function<double(double)> cubic = [&](double v) { return coefficient * v * v * v + v; };
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double low = -9, high = 9;
        for (int k = 0; k < 50; ++k) {
            const double middle = 0.5 * (low + high);
            (cubic(middle) < x[i] ? low : high) = middle;
        }
        const double slope = (cubic(low + 1e-3) - cubic(low - 1e-3)) / 2e-3;
        sum += low - (cubic(low) - x[i]) / slope;
    }
    return sum;
}

double prints(const double *x, int n)
{
    std::ostringstream text;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * x[i];
        text << "sum " << std::setprecision(3) << sum << std::endl;
        if (sum < 0)
            std::cerr << "negative: " << sum << '\n';
    }
    return sum;
}

double buckets_by_bits(const double *x, int n)
{
    double sums[4] = {0, 0, 0, 0}, result = 0;
    for (int i = 0; i < n; ++i) {
        union {
            float value;
            unsigned bits;
        } key;
        key.value = float(x[i]);
        sums[key.bits >> 22 & 3] += x[i] * x[i];
    }
    for (double sum : sums) result += sum * sum;
    return result;
}

double enlarged_memory(const double *x, int n)
{
    double *a = (double *)malloc(2 * sizeof(double)), sum = 0;
    a[0] = x[0] * x[1];
    a[1] = x[1];
    a = (double *)realloc(a, (n + 2) * sizeof(double));
    for (int i = 0; i < n; ++i)
        a[i + 2] = x[i] * a[i] + a[1];
    for (int i = 0; i < n; ++i)
        sum += a[i] * a[n + 1 - i];
    free(a);
    return sum;
}
double owned_memory(const double *x, int n)
{
    const auto buffer = std::make_unique<double[]>(n);
    for (int i = 0; i < n; ++i) buffer[i] = std::tanh(x[i]);
    double *more = new double[n];
    std::copy(buffer.get(), buffer.get() + n, more);
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += more[i] * buffer[n - 1 - i];
    delete[] more;
    return sum;
}

template <class T, int Count> T polynomial(T v)
{
    if constexpr (Count == 0)
        return T(1);
    else
        return v * polynomial<T, Count - 1>(v) + T(1);
}

void templates(const double *x, const float *u, double *y, int n)
{
    for (int i = 0; i < n; ++i) y[i] = polynomial<double, 4>(x[i]) * polynomial<float, 2>(u[i]);
}

static double power_of(double v, int count) { return count == 0 ? 1 : v * power_of(v, count - 1); }

double recursive(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += power_of(x[i], i % 5);
    return sum;
}

double sorted(const double *x, int n)
{
    std::vector<double> values(x, x + n);
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1) * values[i] * values[i];
    return sum;
}

double sorted_indices(const double *x, int n)
{
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return x[a] < x[b]; });
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1) * x[order[i]] * x[i];
    return sum;
}

double references_to_arrays(const double (&x)[4][4], double (&y)[4])
{
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
        y[i] = 0;
        for (int k = 0; k < 4; ++k) y[i] += x[i][k] * x[k][i];
        sum += y[i] * y[i];
    }
    return sum;
}

double shifted_in_place(const double *x, int n)
{
    std::vector<double> c(x, x + n);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i + 1 < n; ++i) c[i] = 0.5 * c[i] * c[i + 1] + 0.25 * std::sin(c[i + 1]);
    return c[0] + c[1];
}

static void squared(const double *__restrict from, double *__restrict to, int n)
{
    for (int i = 0; i < n; ++i) to[i] = from[i] * from[i] + 0.25 * from[(i + 1) % n];
}

void restricted_and_swapped(double *x, double *y, int steps, int n)
{
    double *from = x, *to = y;
    for (int s = 0; s < steps; ++s) {
        squared(from, to, n);
        std::swap(from, to);
    }
}

double linked_list(const double *x, int n)
{
    struct Node {
        double value;
        Node *next;
    };
    Node *head = nullptr;
    for (int i = 0; i < n; ++i) head = new Node{x[i] * x[i], head};
    double sum = 0;
    int place = 1;
    for (const Node *node = head; node; node = node->next) sum += place++ * node->value;
    while (head) {
        Node *next = head->next;
        delete head;
        head = next;
    }
    return sum;
}

void by_reference(const double &a, const double *x, double *y, double &total, int n)
{
    for (int i = 0; i < n; ++i) {
        y[i] = a * x[i];
        total += y[i] * y[i];
    }
}

struct Particle {
    double position[3], mass;
    int kind;
};

double array_of_structs(const Particle *particles, int n)
{
    double energy = 0;
    for (int i = 0; i < n; ++i)
        for (const double each : particles[i].position) energy += 0.5 * particles[i].mass * each * each;
    return energy;
}

double empty_array(const double *x, const double *none, int n, int count)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    for (int i = 0; i < count; ++i) sum += none[i];
    return sum;
}

static ADGEN_INACTIVE double level(double v) { return std::floor(10 * v) / 10; }

double inactive_function(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += level(x[i]) * x[i];
    return sum;
}

ADGEN_GRADIENT(gradient_of_steep) double steep(double v) { return v * v * v; }
void gradient_of_steep(double v, double cotangent, double *d_v) { *d_v = 3 * v * v * cotangent; }

double own_gradient(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += steep(x[i]);
    return sum;
}

static double norm_of_rows(double **rows, int n, int width)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < width; ++k) sum += rows[i][k] * rows[i][k];
    return std::sqrt(sum);
}

double rows_of_one_array(double *x, int n)
{
    std::vector<double *> rows(n / 2);
    for (int i = 0; i < n / 2; ++i) rows[i] = x + 2 * i;
    return norm_of_rows(rows.data(), n / 2, 2);
}

double jump_into_a_loop(const double *x, int n)
{
    double sum = 1;
    int i = 0;
    switch (n % 3) {
        do {
    case 0: sum += 0.1 * sum * x[i++]; [[fallthrough]];
    case 2: sum += x[i] * x[i]; ++i; [[fallthrough]];
    case 1: sum *= 1 + 0.1 * x[i++];
        } while (i < n);
    }
    return sum;
}
