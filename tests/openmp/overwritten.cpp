// State that parallel regions overwrite from step to step, and that others read.
#include <cmath>
#include <vector>

// Every element is read by three others, and then moved: two arrays, both put back in the reverse sweep.
double swarm(double *x, double *v, const int *near, int n, int steps, double step)
{
    double sum = 0;
    for (int t = 0; t < steps; t++) {
        double here = 0;
#pragma omp parallel for reduction(+ : here)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                const double way = x[near[3 * i + k]] - x[i];
                here += std::exp(-way * way) * v[near[3 * i + k]] * v[i];
            }
        sum += here;
#pragma omp parallel for
        for (int i = 0; i < n; i++) {
            if (i % 3 == 1)
                v[i] *= 0.9; // twice
            v[i] += step * std::sin(x[i]);
            x[i] += step * v[i];
        }
    }
    return sum;
}

// Steps from one buffer to the other and back, of an array that begins before what is written.
void waves(float *u, float *w, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            w[i] = u[i] + 0.1f * u[i - 1] * u[i] * u[i + 1];
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            u[i] = w[i] - 0.1f * w[i - 1] * w[i] * w[i + 1];
    }
}

// Written by one thread alone between the regions too, so all that is read is kept.
void edges(double *u, double *y, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] += u[i] * u[(i + 1) % n] * u[(i + 2) % n];
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            u[i] *= 1.1;
        u[0] = u[1] * u[2];
    }
}

// What is pushed on the sides of a body moves it: a sum that its derivative by the step needs, of what the next step overwrites.
void bodies(double *place, const double *mass, const int *sides, int n, int steps, double step)
{
    std::vector<double> push(4 * n);
    for (int t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int i = 0; i < 4 * n; i++)
            push[i] = std::sin(place[i % n] + 0.1 * i);
        double far = 1;
#pragma omp parallel for reduction(max : far)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                if (sides[4 * i + k] >= 0)
                    sum += push[sides[4 * i + k]];
            place[i] += step * sum / mass[i];
            far = std::fmax(far, place[i]);
        }
        step = 0.1 * far;
    }
}
