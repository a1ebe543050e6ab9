// Loops whose gradients add to several places of an array in each iteration.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

void smooth(const double *u, double *v, int n)
{
    for (int i = 1; i < n - 1; i++)
        v[i] = std::sin(u[i]) * u[i - 1] + u[i + 1] * u[i + 1];
}

// The arrays of two steps change places: which is which is not known where they are added to.
double diffusion(const float *start, int nx, int ny, int steps, float dt)
{
    std::vector<float> u(start, start + nx * ny), v(u);
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const int c = j * nx + i;
                v[c] = u[c] + dt * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] - 4 * u[c]) * u[c];
            }
        std::swap(u, v);
    }
    double sum = 0;
    for (float value : u)
        sum += value * value;
    return sum;
}

// Each iteration reads what those before it have written, which nothing may be moved past.
double sweep(const double *start, int n)
{
    std::vector<double> u(start, start + n);
    for (int i = 1; i < n - 1; i++)
        u[i] = std::tanh(0.3 * u[i - 1] + 0.5 * u[i] - 0.2 * u[i + 1]);
    for (int i = n - 2; i > 0; i--)
        u[i] += 0.1 * u[i + 1] * u[i];
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += u[i] * u[i];
    return sum;
}

double waves(const double *start, const double *stiffness, int n, int steps)
{
    std::vector<double> u(start, start + n), v(n, 0.0);
    for (int s = 0; s < steps; s++) {
        for (int i = 1; i < n - 1; i++)
            v[i] += stiffness[i] * (u[i - 1] - 2 * u[i] + u[i + 1]);
        for (int i = 0; i < n; i++)
            u[i] += 0.1 * v[i];
    }
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += std::cos(u[i]);
    return sum;
}

// One array is written through two pointers: the places may overlap although each follows the index.
double shifted(const double *x, int n, int shift)
{
    std::vector<double> u(2 * n);
    double *a = u.data(), *b = a + shift;
    for (int i = 0; i < n - 2; i++) {
        a[i] += x[i];
        b[i] = a[i + 1] * x[i + 1] + a[i] * x[i + 2];
    }
    double sum = 0;
    for (double value : u)
        sum += value * value;
    return sum;
}

// The inner loop of the gradient adds to one element of a and to a row of b.
void product(const float *a, const float *b, float *c, int rows, int n)
{
#pragma omp parallel for
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < rows; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * rows + k] * b[k * n + j];
    }
}

// Three arrays take turns.
double membrane(const double *start, const double *speed, int nx, int ny, int steps)
{
    std::vector<double> before(start, start + nx * ny), now(before), next(nx * ny, 0.0);
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const int c = j * nx + i;
                next[c] = 2 * now[c] - before[c] + speed[c] * (now[c - 1] + now[c + 1] + now[c - nx] + now[c + nx] - 4 * now[c]);
            }
        std::swap(before, now);
        std::swap(now, next);
    }
    double sum = 0;
    for (double value : now)
        sum += value * value;
    return sum;
}

class Grid {
public:
    Grid(int nx, int ny) : nx(nx), ny(ny), cells(new double[nx * ny]()) {}
    double &operator()(int i, int j) { return cells[j * nx + i]; }
    double operator()(int i, int j) const { return cells[j * nx + i]; }
    void swap(Grid &other) { cells.swap(other.cells); }

    const int nx, ny;

private:
    std::unique_ptr<double[]> cells;
};

double grids(const double *start, const double *kappa, int nx, int ny, int steps)
{
    Grid a(nx, ny), b(nx, ny);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            a(i, j) = b(i, j) = start[j * nx + i];
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for
        for (int j = 1; j < a.ny - 1; j++)
            for (int i = 1; i < a.nx - 1; i++)
                b(i, j) = a(i, j) + kappa[j * nx + i] * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1) - 4 * a(i, j)) * a(i, j);
        a.swap(b);
    }
    double sum = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            sum += a(i, j) * a(i, j);
    return sum;
}

// The region adds to the array that it reads as well, where both are the same one.
double relaxed(const double *start, int n, int steps)
{
    std::vector<double> u(start, start + n), v(n, 0.0);
    double *from = u.data(), *to = v.data();
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            to[i] = from == to ? 0.5 * to[i] * to[i] : from[i] * from[(i + 1) % n];
        if (s % 2)
            from = to;
        else
            std::swap(from, to);
    }
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += to[i] * to[i];
    return sum;
}

// One loop of two, whose index is divided, in a plate whose rows are short and long.
double plate(const double *start, const double *kappa, int nx, int ny, int steps)
{
    std::vector<double> u(start, start + nx * ny), v(u);
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for collapse(2)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const int c = j * nx + i;
                v[c] = u[c] + kappa[c] * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] - 4 * u[c]) * u[c];
            }
        std::swap(u, v);
    }
    double sum = 0;
#pragma omp parallel for collapse(2) reduction(+ : sum) schedule(dynamic, 5)
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            sum += std::sin(u[j * nx + i]) * kappa[i];
    return sum;
}

// And of three; where there are fewer rows than threads, a thread begins in the middle of one.
void box(const double *u, const double *weights, double *v, int nx, int ny, int nz)
{
#pragma omp parallel for collapse(3)
    for (unsigned k = 0; k < nz; k++)
        for (long j = 0; j < ny; j++)
            for (int i = nx - 1; i >= 0; i--)
                v[(k * ny + j) * nx + i] = u[(k * ny + j) * nx + nx - 1 - i] * weights[i] + u[j * nx + i] * weights[k];
}
