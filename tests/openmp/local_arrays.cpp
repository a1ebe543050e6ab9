// What loops compute from an array that each iteration of a parallel loop fills for itself. The loops are too long to be unrolled.
#include <cmath>
#include <vector>

constexpr int Corners = 8, Rounds = 40;

struct Local {
    double p[Corners];
    explicit Local(const double *x)
    {
        for (int k = 0; k < Corners; k++)
            p[k] = x[k] * x[(k + 1) % Corners];
    }
    double operator[](int k) const { return p[k % Corners]; }
};

#define EACH(NAME, BODY)                                                                                                \
    extern "C" void NAME(const double *x, double *out, int n)                                                           \
    {                                                                                                                   \
        _Pragma("omp parallel for") for (int c = 0; c < n; c++)                                                         \
        {                                                                                                               \
            Local p(x + Corners * c);                                                                                   \
            BODY                                                                                                        \
        }                                                                                                               \
    }

EACH(sum_of_products, {
    double s = 0;
    for (int i = 0; i < Rounds; i++)
        s += p[i * i] * p[3 * i + 1];
    out[c] = s * s;
})

EACH(product, {
    double s = 1;
    for (int i = 0; i < Rounds; i++)
        s *= 0.8 * p[i * i] + 0.3 * p[3 * i + 1];
    out[c] = s * s;
})

EACH(largest, {
    double s = 0;
    for (int i = 0; i < Rounds; i++)
        s = std::fmax(s, p[i * i] + p[5 * i]);
    out[c] = std::sin(s);
})

EACH(place_of_the_largest, {
    int best = 0;
    for (int i = 0; i < Rounds; i++)
        if (p[i * i + i] > p[best])
            best = (i * i + i) % Corners;
    out[c] = p[best] * p[best];
})

EACH(until_enough, {
    double s = 0;
    int k = 0;
    while (s < 6 && k < 50)
        s += p[k++];
    out[c] = s * s * k;
})

EACH(counts, {
    int q[Corners];
    for (int k = 0; k < Corners; k++)
        q[k] = int(4 * p[k]) % 5;
    int b = 0;
    for (int i = 0; i < Rounds; i++)
        b += q[i * i % Corners] * q[3 * i % Corners];
    out[c] = p[0] * b * p[b];
})

EACH(decides, {
    double s = 0;
    for (int i = 0; i < Rounds; i++)
        s += p[i * i] * p[3 * i + 1];
    out[c] = s > 20 ? p[0] * p[1] : p[2] * p[3] * s;
})

EACH(in_place, {
    for (int i = 0; i < Rounds; i++)
        p.p[i * i % Corners] += 0.01 * p[i + 1] * p[3 * i];
    out[c] = p[0] * p[5];
})

EACH(array_in_a_loop, {
    double s = 0;
    for (int i = 0; i < n; i++) {
        double q[4];
        for (int k = 0; k < 4; k++)
            q[k] = p[i + k] * p[k];
        double u = 0;
        for (int j = 0; j < Rounds; j++)
            u += q[j * j % 4] * p[j];
        s += u * u;
    }
    out[c] = s * s * 1e-4;
})

// A vector's pointer is null where it is empty: two names of one array.
EACH(vectors_in_a_loop, {
    std::vector<double> at(n, 0.1);
    std::vector<double> slope(n);
    auto slopes = [&](const std::vector<double> &from, std::vector<double> &to) {
        for (int i = 0; i < n; i++) {
            double s = -p[i];
            for (int j = 0; j < n; j++)
                s += p[(i + j) % 8] * from[j];
            to[i] = s;
        }
    };
    slopes(at, slope);
    for (int step = 0; step < 3; step++) {
        std::vector<double> next(at);
        std::vector<double> ahead(n);
        for (int i = 0; i < n; i++)
            next[i] -= 0.1 * slope[i];
        slopes(next, ahead);
        at = next;
        slope = ahead;
    }
    double s = 0;
    for (double value : at)
        s += value * value;
    out[c] = s;
})

// The array is indexed by a permutation that nothing uses, and by constants once that is known.
extern "C" void sorted_after_ranks(const double *__restrict__ x, double *__restrict__ out, int n)
{
#pragma omp parallel for
    for (int c = 0; c < n; c++) {
        double a[Corners];
        for (int k = 0; k < Corners; k++)
            a[k] = k % 2 ? x[(c + k) % n] : x[Corners * c];
        int order[Corners];
        for (int p = 0; p < Corners; p++)
            order[p] = p;
        for (int p = 1; p < Corners; p++) {
            int v = order[p], q = p;
            while (q > 0 && a[order[q - 1]] < a[v]) {
                order[q] = order[q - 1];
                --q;
            }
            order[q] = v;
        }
        for (int p = 1; p < Corners; p++) {
            double v = a[p];
            int q = p;
            for (; q > 0; q--) {
                if (!(a[q - 1] < v))
                    break;
                a[q] = a[q - 1];
            }
            a[q] = v;
        }
        out[c] = a[0] * a[2] + a[1];
    }
}
