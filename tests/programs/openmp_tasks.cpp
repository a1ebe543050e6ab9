// Tasks of OpenMP, on the same data as openmp_constructs.cpp: every sum is the same however many threads there are.
#include <algorithm>
#include <cmath>
#include <vector>

static double term(double x, double w) { return std::sin(x * w) + 0.1 * x * x; }

extern "C" {

double tasks(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task shared(sum) if (i % 3)
        {
#pragma omp atomic
            sum += term(x[i], w[i]);
        }
    }
    return sum;
}

static double halved(const double *x, const double *w, int n)
{
    if (n < 3) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += term(x[i], w[i]);
        return sum;
    }
    double left, right;
#pragma omp task shared(left) final(n < 6)
    left = halved(x, w, n / 2);
#pragma omp task shared(right)
    right = halved(x + n / 2, w + n / 2, n - n / 2);
#pragma omp taskwait
    return left + right;
}

double tasks_of_tasks(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel
#pragma omp single
    sum = halved(x, w, n);
    return sum;
}

double dependent_tasks(const double *x, const double *w, int n)
{
    std::vector<double> so_far(n + 1, 0.0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task depend(in : so_far[i]) depend(out : so_far[i + 1]) firstprivate(i)
        so_far[i + 1] = so_far[i] + term(x[i], w[i]);
    }
    return so_far[n];
}

double tasks_with_objects(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < n; i += 4) {
        std::vector<double> part(x + i, x + std::min(i + 4, n));
#pragma omp task firstprivate(part, i) in_reduction(+ : sum)
        for (size_t k = 0; k < part.size(); k++)
            sum += term(part[k], w[i + k]);
    }
    return sum;
}

double loop_of_tasks(const double *x, const double *w, int n)
{
    double sum = 0, last = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(4) reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < n; i++) {
        last = term(x[i], w[i]);
        sum += last;
    }
    return sum + last - term(x[n - 1], w[n - 1]);
}

double untied_tasks(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++) {
#pragma omp task shared(sum) untied
        {
#pragma omp atomic
            sum += x[i] * x[i];
        }
    }
    return sum;
}
}
