// Functions through which tangents are carried along several directions at once.
#include <cmath>
#include <memory>
#include <vector>

struct Options {
    double rate;
    int steps;
    float bias;
};

struct Arrays {
    double *x;
    const double *weights;
    int n;
};

// Numbers, a struct by value, a result, and an array that is overwritten.
double relax(double *x, const double *target, Options options, double scale, int n)
{
    double sum = 0;
    for (int step = 0; step < options.steps; ++step)
        for (int i = 0; i < n; ++i) {
            x[i] += options.rate * (std::sin(target[i] * scale) - x[i]);
            sum += x[i] * x[i] * options.bias;
        }
    return sum;
}

// Arrays in a struct, some of them constant: which memory has tangents is known only when the function runs.
void blend(Arrays arrays, const double *fixed, double *y)
{
    const double *sources[] = {arrays.weights, fixed, arrays.x};
    for (int i = 0; i < arrays.n; ++i) {
        const double *source = sources[i % 3];
        y[i] = source[i] * arrays.x[i] + arrays.weights[i];
        if (y[i] > 0)
            arrays.x[i] = std::sqrt(y[i]);
    }
}

// What each thread adds, a region that has more than one thing to do, and memory that the function allocates.
float team(const float *x, float *y, int n)
{
    float sum = 0, most = 0;
    std::vector<float> squares(n);
#pragma omp parallel
    {
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < n; ++i) {
            squares[i] = x[i] * x[i];
            sum += squares[i];
        }
#pragma omp critical
        most = std::fmax(most, x[0]);
#pragma omp for
        for (int i = 0; i < n; ++i)
            y[i] = squares[i] / sum + most;
    }
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        y[i % 2] += squares[i];
    }
    return sum;
}

// Mathematics with a derivative of ours, one with two arguments, and recursion.
static double folded(const double *x, int n) { return n ? std::lgamma(x[0]) + std::erf(folded(x + 1, n - 1)) : 0.25; }

double special(const double *x, double *y, int n)
{
    auto powers = std::make_unique<double[]>(n);
    for (int i = 0; i < n; ++i)
        powers[i] = std::pow(x[i], x[(i + 1) % n]) + std::hypot(x[i], 1.5) + std::tgamma(x[i]);
    double last = 1;
    int i = 0;
    while (last < 40 && i < n)
        last += powers[i++];
    for (int k = 0; k < n; ++k)
        y[k] = powers[n - 1 - k] * last;
    return folded(x, n);
}

static double steep(double x, double y) { return x * x * y; }

void gradient_of_steep(double x, double y, double cotangent, double *d_x, double *d_y)
{
    *d_x = 3 * (2 * x * y * cotangent);
    *d_y = 3 * (x * x * cotangent);
}

double ruled(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i + 1 < n; ++i)
        sum += steep(x[i], x[i + 1]);
    return sum;
}

// A variable of the file has one shadow, so that this is carried along one direction after another.
static double kept[3];

void remember(const double *x, double *y, int n)
{
    for (int i = 0; i < n; ++i) {
        kept[i % 3] = i < 3 ? x[i] : kept[i % 3] * x[i];
        y[i] = kept[i % 3] + kept[0];
    }
}
