// Functions whose parameters are more than arrays and numbers: structs behind references and pointers, vectors, spans, complex numbers.
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

struct Grid {
    double *u;
    int n;
    double h;
};

struct Point {
    double x, y, z;
};

template <class T> struct Field {
    std::vector<T> data;
    int stride;
};

double by_reference(const Grid &grid)
{
    double sum = 0;
    for (int i = 0; i < grid.n; i++)
        sum += grid.u[i] * grid.u[i] * grid.h;
    return sum;
}

void smooth(Grid *grid, double *out)
{
#pragma omp parallel for
    for (int i = 1; i < grid->n - 1; i++)
        out[i] = std::tanh(grid->u[i - 1] + grid->u[i + 1]) * grid->h;
}

double neighbours(const std::vector<double> &v)
{
    double sum = 0;
    for (std::size_t i = 1; i < v.size(); i++)
        sum += v[i] * std::sin(v[i - 1]);
    return sum;
}

void activate(const std::vector<float> &in, std::vector<float> &out)
{
#pragma omp parallel for
    for (std::size_t i = 0; i < in.size(); i++)
        out[i] = std::tanh(in[i]);
}

double of_a_copy(std::vector<double> v)
{
    double sum = 0;
    for (double &each : v)
        each *= each;
    for (double each : v)
        sum += std::exp(-each);
    return sum;
}

double volumes(const std::vector<Point> &points)
{
    double sum = 0;
    for (const Point &p : points)
        sum += p.x * p.y * p.z;
    return sum;
}

double of_a_member(const Field<double> &field)
{
    double sum = 0;
    for (std::size_t i = 0; i < field.data.size(); i += field.stride)
        sum += field.data[i] * field.data[i];
    return sum;
}

double of_a_span(std::span<const double> v)
{
    double sum = 0;
    for (double each : v)
        sum += std::exp(each);
    return sum;
}

double power(const std::vector<std::complex<double>> &z, std::complex<double> *squares)
{
    double sum = 0;
    for (std::size_t i = 0; i < z.size(); i++) {
        squares[i] = z[i] * z[i];
        sum += std::norm(squares[i]) * z[i].real();
    }
    return sum;
}

double of_some(const std::vector<double> &v, const std::vector<int> &which)
{
    double product = 1;
    for (int i : which)
        product *= 1 + v[i] * v[i];
    return product;
}

void grow(std::vector<double> &v) { v.push_back(v[0]); }

void advance(Grid *grid)
{
    for (int i = 0; i < grid->n; i++)
        grid->u[i] *= grid->h;
    grid->h *= 0.5;
}

template <class... T> double of_pack(const double *x, T... y) { return (x[0] * ... * y); }
template double of_pack(const double *, double, double);

double visited(const std::vector<double> &v)
{
    std::vector<std::variant<double, Point>> all;
    for (std::size_t i = 0; i + 2 < v.size(); ++i) {
        if (i % 2 == 0)
            all.emplace_back(v[i]);
        else
            all.emplace_back(Point{v[i], v[i + 1], v[i + 2]});
    }
    double sum = 0;
    for (const auto &each : all)
        sum += std::visit(
            [](const auto &it) {
                if constexpr (std::is_same_v<std::decay_t<decltype(it)>, double>)
                    return it * it;
                else
                    return it.x * std::sin(it.y) * it.z;
            },
            each);
    return sum;
}
