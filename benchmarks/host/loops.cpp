// Loops as they are often written: two arrays that change places in every step, and a product whose innermost loop goes along rows.
#include <utility>
#include <vector>

double diffusion(const float *start, int n, int steps, float rate)
{
    std::vector<float> now(start, start + size_t(n) * n * n), next(now);
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for collapse(2)
        for (int z = 1; z < n - 1; z++)
            for (int y = 1; y < n - 1; y++)
                for (int x = 1; x < n - 1; x++) {
                    const int c = (z * n + y) * n + x;
                    const float around = now[c - 1] + now[c + 1] + now[c - n] + now[c + n] + now[c - n * n] + now[c + n * n];
                    next[c] = now[c] + rate * (around - 6 * now[c]);
                }
        std::swap(now, next);
    }
    double sum = 0;
    for (float value : now)
        sum += double(value) * value;
    return sum;
}

void product(const float *a, const float *b, float *c, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}
