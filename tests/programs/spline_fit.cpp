// Smoothing splines: a B-spline class with knots in a vector, evaluation by de Boor, penalised least squares, a monotone
// reparametrisation, curvature of a plane curve. Iterators, range-for, lambdas, algorithms of the standard library.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

class BSpline {
public:
    static constexpr int degree = 3;

    BSpline(std::vector<double> knots, std::vector<double> coefficients)
        : knots_(std::move(knots)), coefficients_(std::move(coefficients))
    {
        assert(knots_.size() == coefficients_.size() + degree + 1);
    }

    double operator()(double x) const
    {
        const int k = span(x);
        double d[degree + 1];
        for (int j = 0; j <= degree; ++j) d[j] = coefficients_[j + k - degree];
        for (int r = 1; r <= degree; ++r)
            for (int j = degree; j >= r; --j) {
                const double left = knots_[j + k - degree], right = knots_[j + 1 + k - r];
                const double alpha = (x - left) / (right - left);
                d[j] = (1 - alpha) * d[j - 1] + alpha * d[j];
            }
        return d[degree];
    }

    BSpline derivative() const
    {
        // kept at the same degree by differences of evaluation points would be wrong: build the lower spline's values
        std::vector<double> lower;
        for (std::size_t i = 0; i + 1 < coefficients_.size(); ++i)
            lower.push_back(degree * (coefficients_[i + 1] - coefficients_[i]) / (knots_[i + degree + 1] - knots_[i + 1]));
        lower.push_back(lower.back());
        return BSpline(knots_, lower);
    }

    double roughness() const
    {
        double sum = 0;
        for (auto c = coefficients_.begin(); std::next(c, 2) != coefficients_.end(); ++c) {
            const double second = c[0] - 2 * c[1] + c[2];
            sum += second * second;
        }
        return sum;
    }

    static std::vector<double> clamped_knots(int count, double low, double high)
    {
        std::vector<double> knots(degree, low);
        const int inner = count - degree + 1;
        for (int i = 0; i < inner; ++i) knots.push_back(low + (high - low) * i / (inner - 1));
        knots.insert(knots.end(), degree, high);
        return knots;
    }

private:
    std::vector<double> knots_, coefficients_;

    int span(double x) const
    {
        const auto above = std::upper_bound(knots_.begin() + degree, knots_.end() - degree - 1, x);
        return static_cast<int>(std::distance(knots_.begin(), above)) - 1;
    }
};

struct Sample {
    double x, y, weight;
};

double penalised_loss(const double *coefficients, const Sample *samples, int n_coefficients, int n_samples, double smoothing)
{
    const BSpline spline(BSpline::clamped_knots(n_coefficients, 0.0, 1.0),
                         std::vector<double>(coefficients, coefficients + n_coefficients));
    double loss = 0;
    for (const Sample *s = samples; s != samples + n_samples; ++s) {
        const double r = spline(s->x) - s->y;
        loss += s->weight * r * r;
    }
    return loss / n_samples + smoothing * spline.roughness();
}

// coefficients that rise by softplus steps, so that the curve is monotone; output by value through a vector
std::vector<double> rising(const double *raw, int n)
{
    std::vector<double> c(n);
    std::transform(raw, raw + n, c.begin(), [](double v) { return v > 30 ? v : std::log1p(std::exp(v)); });
    c[0] = raw[0];
    std::partial_sum(c.begin(), c.end(), c.begin());
    return c;
}

double monotone_loss(const double *raw, const Sample *samples, int n_coefficients, int n_samples)
{
    const BSpline spline(BSpline::clamped_knots(n_coefficients, 0.0, 1.0), rising(raw, n_coefficients));
    std::vector<double> residuals;
    residuals.reserve(n_samples);
    for (int i = 0; i < n_samples; ++i) residuals.push_back(samples[i].weight * (spline(samples[i].x) - samples[i].y));
    return std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0) / n_samples;
}

// bending energy of a closed plane curve given by points
void curvature(const double *px, const double *py, double *kappa, double *energy, int n)
{
    std::vector<std::pair<double, double>> tangents(n);
    for (int i = 0; i < n; ++i) {
        const int next = (i + 1) % n;
        tangents[i] = {px[next] - px[i], py[next] - py[i]};
    }
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const auto &[ax, ay] = tangents[(i + n - 1) % n];
        const auto &[bx, by] = tangents[i];
        const double la = std::hypot(ax, ay), lb = std::hypot(bx, by);
        kappa[i] = 2 * std::atan2(ax * by - ay * bx, ax * bx + ay * by) / (la + lb);
        sum += kappa[i] * kappa[i] * 0.5 * (la + lb);
    }
    *energy = sum;
}

int main()
{
    const int n = 9;
    std::vector<double> c(n);
    std::iota(c.begin(), c.end(), 0.0);
    std::vector<Sample> samples;
    for (int i = 0; i < 50; ++i) samples.push_back({(i + 0.5) / 50, std::sin(0.1 * i), 1.0});
    std::printf("%g %g\n", penalised_loss(c.data(), samples.data(), n, 50, 1e-3), monotone_loss(c.data(), samples.data(), n, 50));
    return 0;
}
