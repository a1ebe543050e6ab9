// One function for each OpenMP construct, on the same data: every sum below is the same however many threads there are.
#include <algorithm>
#include <cmath>
#include <omp.h>
#include <stdexcept>
#include <vector>

static double term(double x, double w) { return std::sin(x * w) + 0.1 * x * x; }

extern "C" {

double static_chunks(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel for schedule(static, 3) reduction(+ : sum)
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i % 5; j++)
            sum += term(x[i], w[j]);
    return sum;
}

double dynamic_loop(const double *x, const double *w, int n)
{
    std::vector<double> values(n, 0.0);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            values[i] += term(x[i], w[j]) * values[i] + x[j];
    double sum = 0;
    for (double v : values)
        sum += v * std::exp(-0.01 * v);
    return sum;
}

double guided_down(const double *x, const double *w, long n)
{
    double sum = 0;
#pragma omp parallel for schedule(guided, 2) reduction(+ : sum)
    for (long i = n - 1; i >= 0; i -= 2)
        sum += term(x[i], w[n - 1 - i]);
    return sum;
}

double auto_runtime(const double *x, const double *w, unsigned n)
{
    double sum = 0, other = 0;
#pragma omp parallel for schedule(auto) reduction(+ : sum)
    for (unsigned i = 0; i < n; ++i)
        sum += term(x[i], w[i]);
#pragma omp parallel for schedule(runtime) reduction(- : other)
    for (unsigned long i = 0; i < n; ++i)
        other -= term(w[i], x[i]);
    return sum * other;
}

void collapsed(const double *x, double *y, int rows, int columns)
{
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            y[i * columns + j] = term(x[i * columns + j], x[j * rows + i]);
}

double simd_for(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(simd : static, 4)
    for (int i = 0; i < n; i++)
        sum += term(x[i], w[i]);
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * w[i];
    return sum;
}

double many_reductions(const double *x, const double *w, int n)
{
    double sum = 0, product = 1, low = 1e30, high = -1e30;
    int positive = 0;
    bool any = false;
#pragma omp parallel for reduction(+ : sum, positive) reduction(* : product) reduction(min : low) reduction(max : high) reduction(|| : any)
    for (int i = 0; i < n; i++) {
        double v = term(x[i], w[i]);
        sum += v;
        product *= 1 + 0.1 * v;
        low = std::min(low, v);
        high = std::fmax(high, v);
        positive += v > 0;
        any = any || v > 1e9;
    }
    return sum * product + low * high + positive + (any ? 100 : 0);
}

double array_reduction(const double *x, const double *w, int n)
{
    double bins[4] = {0, 0, 0, 0};
    std::vector<double> wide(n, 0.0);
    double *section = wide.data();
#pragma omp parallel for reduction(+ : bins) reduction(+ : section[0 : n])
    for (int i = 0; i < n; i++) {
        bins[i % 4] += term(x[i], w[i]);
        section[n - 1 - i] += x[i];
        section[i] += w[i] * x[i];
    }
    double sum = bins[0] * bins[1] + bins[2] * bins[3];
    for (int i = 0; i < n; i++)
        sum += std::sin(section[i]);
    return sum;
}

double critical_sections(const double *x, const double *w, int n)
{
    double best = -1e30, product = 1;
#pragma omp parallel
    {
        double mine = -1e30;
#pragma omp for nowait
        for (int i = 0; i < n; i++) {
            mine = std::max(mine, term(x[i], w[i]));
#pragma omp critical(scale)
            product *= 1 + 0.1 * x[i];
        }
#pragma omp critical
        if (mine > best)
            best = mine;
    }
    return best * product;
}

double atomics(const double *x, const double *w, int n)
{
    double sum = 0, product = 1, high = -1e30, copy = 0;
    int count = 0;
    std::vector<double> packed(n);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int place;
        double v = term(x[i], w[i]);
#pragma omp atomic
        sum += v;
#pragma omp atomic update
        product *= 1 + 0.1 * v;
#pragma omp atomic capture
        place = count++;
        packed[place] = v * v;
#pragma omp atomic compare
        if (high < v)
            high = v;
        if (i == n / 2) {
#pragma omp atomic write
            copy = x[i];
        }
    }
    double read;
#pragma omp parallel num_threads(1)
    {
#pragma omp atomic read
        read = copy;
    }
    for (double p : packed)
        sum += p;
    return sum * product + high * read;
}

double plain_atomics(const double *x, const double *w, int n, float *histogram)
{
    double sum = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        sum += term(x[i], w[i]);
#pragma omp atomic
        histogram[i % 3] -= float(x[i]);
    }
    return sum;
}

double phases(const double *x, const double *w, int n)
{
    std::vector<double> a(n), b(n);
    double scale = 1, shift = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < n; i++)
            a[i] = term(x[i], w[i]);
#pragma omp single
        {
            scale = 0;
            for (int i = 0; i < n; i++)
                scale += a[i];
        }
#pragma omp master
        shift = a[0] * a[n - 1];
#pragma omp barrier
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; i++)
            b[i] = a[n - 1 - i] * w[i];
#pragma omp sections
        {
#pragma omp section
            scale *= 2;
#pragma omp section
            shift += shift > 0 ? 0.5 : 0.25;
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            a[i] = std::cos(b[i] * scale) + shift;
    }
    double sum = 0;
    for (double v : a)
        sum += v * v;
    return sum;
}

double privates(const double *x, const double *w, int n, double start)
{
    double carried = start, last = 0, scratch = 7, sum = 0;
    float narrow = float(n);
    const double local[3] = {x[0], x[1], x[2]};
#pragma omp parallel for private(scratch) firstprivate(carried, narrow, local) lastprivate(last) reduction(+ : sum) schedule(dynamic, 3)
    for (int i = 0; i < n; i++) {
        scratch = term(x[i], w[i]) * carried + local[i % 3];
        sum += scratch * scratch + narrow;
        last = scratch;
    }
    return sum + last + scratch;
}

double by_hand(const double *x, const double *w, int n)
{
    std::vector<double> parts(omp_get_max_threads());
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), count = omp_get_num_threads();
        for (int i = t; i < n; i += count)
            parts[t] += term(x[i], w[i]);
    }
    double sum = 0;
    for (double part : parts)
        sum += part;
    return sum;
}

double teams_of_a_size(const double *x, const double *w, int n)
{
    double part[5] = {};
#pragma omp parallel num_threads(5)
    {
        const int t = omp_get_thread_num(), count = omp_get_num_threads();
        for (int i = n * t / count; i < n * (t + 1) / count; i++)
            part[t] += term(x[i], w[i]) * x[0];
    }
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) if (n > 10000) num_threads(3)
    for (int i = 0; i < n; i++)
        sum += x[i] * w[i];
#pragma omp parallel for reduction(+ : sum) if (n > 1)
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum + part[0] * part[1] + part[2] * part[3] + part[4];
}

static double inner(const double *row, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += row[j] * row[j];
    return std::sqrt(sum);
}

double nested(const double *x, int rows, int columns)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < rows; i++)
        sum += inner(x + i * columns, columns) * x[i];
    return sum + inner(x, rows);
}

static void scan(const double *x, double *y, int n, double &total)
{
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < n; i++) {
        double v = std::sin(x[i]);
#pragma omp ordered
        {
            total = total * 0.9 + v;
            y[i] = total;
        }
    }
}

double orphaned_and_ordered(const double *x, double *y, int n)
{
    double total = 1;
#pragma omp parallel
    scan(x, y, n, total);
    return total * total;
}

double with_locks(const double *x, const double *w, int n)
{
    double cells[3] = {1, 1, 1};
    omp_lock_t locks[3];
    for (auto &lock : locks)
        omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        omp_set_lock(&locks[i % 3]);
        cells[i % 3] *= 1 + 0.1 * term(x[i], w[i]);
        omp_unset_lock(&locks[i % 3]);
    }
    for (auto &lock : locks)
        omp_destroy_lock(&lock);
    return cells[0] + cells[1] * cells[2];
}

struct Complex2 {
    double re, im;
};
#pragma omp declare reduction(times : Complex2 : omp_out = Complex2{omp_out.re * omp_in.re - omp_out.im * omp_in.im, omp_out.re * omp_in.im + omp_out.im * omp_in.re}) \
    initializer(omp_priv = Complex2{1, 0})

double own_reduction(const double *x, const double *w, int n)
{
    Complex2 z{1, 0};
#pragma omp parallel for reduction(times : z)
    for (int i = 0; i < n; i++) {
        Complex2 f{1 + 0.1 * x[i], 0.2 * w[i]};
        z = Complex2{z.re * f.re - z.im * f.im, z.re * f.im + z.im * f.re};
    }
    return z.re * z.re + 2 * z.im;
}

double checked(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    if (sum > 1e6)
        throw std::range_error("the norm is too large");
    return std::sqrt(sum);
}

double scanned(const double *x, double *y, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
#pragma omp scan inclusive(sum)
        y[i] = sum;
    }
    return sum;
}

double one_region_many_steps(const double *x, const double *w, int n)
{
    std::vector<double> u(x, x + n), v(n);
    double *from = u.data(), *to = v.data();
#pragma omp parallel firstprivate(from, to)
    for (int t = 0; t < 4; t++) {
        std::vector<double> row(w, w + n);
#pragma omp for schedule(static, 2)
        for (int i = 0; i < n; i++)
            to[i] = from[i] + 0.1 * (from[(i + 1) % n] - 2 * from[i] + from[(i + n - 1) % n]) * row[i];
        std::swap(from, to);
    }
    double sum = 0;
    for (double a : u)
        sum += a * a * a;
    return sum;
}

double down_without_sign(const double *x, const double *w, int n)
{
    std::vector<double> b(x, x + n);
    for (std::size_t step = 1; step < b.size(); step *= 2)
        for (std::size_t i = b.size() - 1; i >= step; --i)
            b[i] += b[i - step] * w[i];
    return b.back() * b[n / 2];
}

double library(const double *x, const double *w, int n)
{
    double sum = 0, whole, sine, cosine;
#pragma omp parallel for reduction(+ : sum) private(whole, sine, cosine)
    for (int i = 0; i < n; i++) {
        sincos(x[i], &sine, &cosine);
        sum += std::lgamma(x[i]) * std::tgamma(w[i]) + std::modf(4 * x[i], &whole) * whole + sine * cosine;
        sum += std::fmax(x[i], w[i]) * std::fmin(x[i], 0.9) + std::nextafter(x[i], 2.0) * std::erf(w[i]);
    }
    return sum;
}

static double counter;
#pragma omp threadprivate(counter)

double thread_private(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel
    {
        counter = 0;
#pragma omp for
        for (int i = 0; i < n; i++)
            counter += x[i] * x[i];
#pragma omp atomic
        sum += counter;
    }
    return sum;
}
}
