// Robust statistics: trimmed mean, median absolute deviation, quantile loss; with std::sort, std::nth_element and an
// early way out of two loops.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

double trimmed_mean(const double *x, int n, double share)
{
    std::vector<double> v(x, x + n);
    std::sort(v.begin(), v.end());
    const int cut = static_cast<int>(share * n);
    double sum = 0;
    for (int i = cut; i < n - cut; ++i)
        sum += v[i] * v[i];
    return std::sqrt(sum / (n - 2 * cut));
}

static double median(std::vector<double> v)
{
    auto middle = v.begin() + v.size() / 2;
    std::nth_element(v.begin(), middle, v.end());
    return *middle;
}

double median_absolute_deviation(const double *x, int n)
{
    std::vector<double> v(x, x + n);
    const double m = median(v);
    for (double &e : v)
        e = std::fabs(e - m);
    return 1.4826 * median(v);
}

// sum of the values before the first window whose mean exceeds the threshold
double until_crossing(const double *x, int n, int window, double threshold)
{
    double total = 0;
    for (int start = 0; start + window <= n; ++start) {
        double mean = 0;
        for (int i = 0; i < window; ++i) {
            mean += x[start + i] / window;
            if (mean > threshold)
                return total;
        }
        total += mean * mean;
    }
    return total;
}

// sum of squares of all values that are at least p
double above(const double *x, double p, int n)
{
    int i = -1;
    double sum = 0;
    for (;;) {
        do
            ++i;
        while (i < n && x[i] < p);
        if (i >= n)
            break;
        sum += x[i] * x[i];
    }
    return sum;
}

int main()
{
    std::vector<double> x(100);
    for (int i = 0; i < 100; ++i)
        x[i] = std::sin(12.9898 * i) * 2;
    std::printf("%f %f %f %f\n", trimmed_mean(x.data(), 100, 0.1), median_absolute_deviation(x.data(), 100),
                until_crossing(x.data(), 100, 5, 0.5), above(x.data(), 0.5, 100));
}
