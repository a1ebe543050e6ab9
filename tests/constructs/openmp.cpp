// OpenMP in C++: how loops are shared, how threads' results come together, what they wait for.
#include <algorithm>
#include <cmath>
#include <omp.h>
#include <utility>
#include <vector>

void parallel_for(const double *x, double *y, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) y[i] = std::sin(x[i]) * x[i];
}

void rows_in_parallel(double **in, double *const *out, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) out[i][j] = in[i][j] * in[j][i] + in[(i + 1) % n][j];
}

void static_schedule(const double *x, double *y, int n)
{
#pragma omp parallel for schedule(static, 3)
    for (int i = 1; i < n; ++i) y[i] = x[i] * x[i - 1];
}

void dynamic_schedule(const double *x, const int *idx, double *y, int n)
{
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < n; ++i) {
        double power = 1;
        for (int k = 0; k < idx[i] % 5; ++k) power *= x[i];
        y[i] = power;
    }
}

void guided_schedule(const double *x, double *y, int n)
{
#pragma omp parallel for schedule(guided)
    for (int i = n - 1; i >= 0; --i) y[i] = std::exp(-x[i] * x[i]);
}

void runtime_schedule(const double *x, double *y, int n)
{
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < n; i += 2) y[i] = std::sqrt(x[i]);
}

double sum_reduction(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += w[i] * std::log(x[i]);
    return sum;
}

double product_reduction(const double *x, int n)
{
    double product = 1;
#pragma omp parallel for reduction(* : product)
    for (int i = 0; i < n; ++i) product *= 1 + 0.01 * x[i];
    return product;
}

double maximum_reduction(const double *x, const double *w, int n)
{
    double largest = -1e30;
#pragma omp parallel for reduction(max : largest)
    for (int i = 0; i < n; ++i) largest = std::max(largest, x[i] * w[i]);
    return largest * largest;
}

void array_reduction(const double *x, const int *bin, double *y, int n)
{
    double sums[4] = {0, 0, 0, 0};
#pragma omp parallel for reduction(+ : sums[:4])
    for (int i = 0; i < n; ++i) sums[bin[i] % 4] += x[i] * x[i];
    for (int k = 0; k < 4; ++k) y[k] = std::sqrt(1 + sums[k]);
}

struct Moments {
    double first = 0, second = 0;
};
#pragma omp declare reduction(together : Moments : omp_out.first += omp_in.first, omp_out.second += omp_in.second)

double declared_reduction(const double *x, int n)
{
    Moments moments;
#pragma omp parallel for reduction(together : moments)
    for (int i = 0; i < n; ++i) {
        moments.first += x[i];
        moments.second += x[i] * x[i];
    }
    const double mean = moments.first / n;
    return moments.second / n - mean * mean;
}

double critical_section(const double *x, int n)
{
    double state = 0.5;
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        const double term = std::sin(x[i]);
#pragma omp critical
        state += 0.1 * term;
    }
    return state * state;
}

double named_lock(const double *x, int n)
{
    double total = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        omp_set_lock(&lock);
        total += x[i] * x[i];
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return std::sqrt(total);
}

void atomic_update(const double *x, const int *idx, double *y, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        y[idx[i]] += x[i] * x[i];
#pragma omp atomic
        y[idx[i]] -= std::sin(x[i]);
    }
}

void section_blocks(const double *x, const double *w, double *y, int n)
{
    double first = 0, second = 0;
#pragma omp parallel sections
    {
#pragma omp section
        for (int i = 0; i < n; ++i) first += x[i] * w[i];
#pragma omp section
        for (int i = 0; i < n; ++i) second += std::cos(x[i]);
    }
    y[0] = first * second;
}

void simd_loop(const double *x, double *y, int n)
{
#pragma omp simd
    for (int i = 0; i < n; ++i) y[i] = x[i] * x[i] + 1;
}

double parallel_simd(const double *x, const double *w, int n)
{
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (int i = 0; i < n; ++i) sum += x[i] * x[i] * w[i];
    return sum;
}

void collapsed(const double *x, const double *w, double *y)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 7; ++j) y[7 * i + j] = x[i] * std::sin(w[j]);
}

void region_with_two_loops(const double *x, double *y, int n)
{
    std::vector<double> half(n);
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; ++i) half[i] = std::exp(0.5 * x[i]);
#pragma omp for nowait
        for (int i = 0; i < n; ++i) y[i] = half[i] * half[n - 1 - i];
    }
}

void single_and_barrier(const double *x, double *y, int n)
{
    double scale = 0;
#pragma omp parallel
    {
#pragma omp single
        scale = x[0] * x[1];
#pragma omp for
        for (int i = 0; i < n; ++i) y[i] = scale * x[i];
#pragma omp barrier
#pragma omp master
        y[0] *= scale;
    }
}

void by_thread_number(const double *x, double *y, int n)
{
#pragma omp parallel num_threads(3)
    {
        const int threads = omp_get_num_threads(), each = (n + threads - 1) / threads;
        const int begin = omp_get_thread_num() * each, end = std::min(n, begin + each);
        for (int i = begin; i < end; ++i) y[i] = x[i] * x[i] * x[i];
    }
}

double private_copies(const double *x, int n)
{
    double offset = x[0], last = 0, sum = 0;
#pragma omp parallel for firstprivate(offset) lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        const double shifted = offset + x[i];
        last = shifted * shifted;
        sum += std::log(shifted);
    }
    return sum * last;
}

void ordered_part(const double *x, double *y, int n)
{
    double running = 1;
#pragma omp parallel for ordered
    for (int i = 0; i < n; ++i) {
        const double own = std::sin(x[i]);
#pragma omp ordered
        {
            running = 0.5 * running + own;
            y[i] = running;
        }
    }
}

double conditional_region(const double *x, int n)
{
    double sum = 0;
#pragma omp parallel for if (n > 10) reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += x[i] / (1 + x[i]);
    return sum;
}

class Sparse {
public:
    Sparse(std::vector<int> begins, std::vector<int> columns)
        : begins(std::move(begins)), columns(std::move(columns)), values(this->columns.size())
    {
    }
    double &entry(int i, int k) { return values[begins[i] + k]; }
    void multiply(const double *x, double *y, int n) const
    {
#pragma omp parallel for
        for (int i = 0; i < n; ++i) {
            y[i] = 0;
            for (int k = begins[i]; k < begins[i + 1]; ++k) y[i] += values[k] * x[columns[k]];
        }
    }

private:
    std::vector<int> begins, columns;
    std::vector<double> values;
};

void class_with_index_vectors(const double *x, const int *begins, const int *columns, double *y, int n)
{
    Sparse matrix(std::vector<int>(begins, begins + n + 1), std::vector<int>(columns, columns + begins[n]));
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 2; ++k) matrix.entry(i, k) = x[(i + k) % n] * x[i];
    matrix.multiply(x, y, n);
}

struct Largest {
    double value;
    int place;
};

#pragma omp declare reduction(larger : Largest : omp_out = omp_in.value > omp_out.value ? omp_in : omp_out) \
    initializer(omp_priv = {-1e300, -1})

double largest_and_place(const double *x, int n)
{
    Largest largest{-1e300, -1};
#pragma omp parallel for reduction(larger : largest)
    for (int i = 0; i < n; ++i)
        if (x[i] * x[i] > largest.value) largest = {x[i] * x[i], i};
    return largest.value * x[largest.place];
}

struct Town {
    double people, moves;
    int next;
};

void structs_in_two_loops(const double *x, double *y, int n)
{
    std::vector<Town> towns(n);
    for (int i = 0; i < n; ++i) towns[i] = {x[i], 0.0, (i + 1) % n};
    for (int day = 0; day < 3; ++day) {
#pragma omp parallel for
        for (int i = 0; i < n; ++i) towns[i].moves = towns[i].people * towns[towns[i].next].people;
#pragma omp parallel for
        for (int i = 0; i < n; ++i) towns[i].people -= 0.1 * towns[i].moves;
    }
    for (int i = 0; i < n; ++i) y[i] = towns[i].people;
}

struct Charge {
    double mass, charge;
    double at[2];
    double product(double by) const { return mass * charge * by; }
    double apart(double by) const { return mass - charge * by; }
};

void methods_by_address(const double *x, const int *idx, double *y, int n)
{
    #pragma omp parallel for num_threads(3)
    for (int i = 0; i < n; ++i) {
        double (Charge::*method)(double) const = i % 3 == 1 ? &Charge::product : &Charge::apart;
        Charge c = {x[i], x[idx[i] % n], {0, 0}};
        c.at[idx[i] & 1] = x[(i + 1) % n];
        y[i] += (c.*method)(x[idx[i] % n]) + c.at[0] * c.at[1];
    }
}

void offloaded(const double *x, double *y, int n)
{
    double sum = 0;
    #pragma omp target data map(to : x[0 : n]) map(tofrom : y[0 : n])
    {
        #pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
        for (int i = 0; i < n; ++i) sum += x[i] * x[(i + 1) % n];
        #pragma omp target teams distribute parallel for simd collapse(2) num_teams(4) thread_limit(64)
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < n / 2; ++j) y[i * (n / 2) + j] = x[j] * x[i * (n / 2) + j] * sum;
    }
}

void distributed_rows(const double *x, double *y, int n)
{
    double largest = -1e30;
    const double factor = x[0];
    #pragma omp teams distribute dist_schedule(static, 3) reduction(max : largest) firstprivate(factor)
    for (int i = 0; i < n; ++i) {
        double row = 0;
        #pragma omp parallel for reduction(+ : row)
        for (int j = 0; j <= i; ++j) row += factor * x[j] * x[i];
        y[i] = row;
        largest = row > largest ? row : largest;
    }
    y[n - 1] += largest;
}

static double scratch[4];
static thread_local double latest = 1;
#pragma omp threadprivate(scratch)

void scratch_of_threads(const double *x, double *y, int n)
{
    #pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 4; ++k) scratch[k] = x[i] * (k + 1) + x[(i + k) % n];
        latest = scratch[0] * scratch[3];
        for (int k = 1; k < 4; ++k) scratch[k] *= scratch[k - 1];
        y[i] = latest * scratch[3];
    }
}

void sums_of_threads(const double *x, double *y, int n)
{
    #pragma omp parallel num_threads(3)
    {
        scratch[0] = 0;
        #pragma omp for schedule(static)
        for (int i = 0; i < n; ++i) scratch[0] += x[i] * x[i];
        #pragma omp atomic
        y[0] += scratch[0] * scratch[0];
    }
    for (int i = 1; i < n; ++i) y[i] = scratch[0] * x[i];
}
