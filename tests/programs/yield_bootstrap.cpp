// A yield curve from deposits, futures and swaps: instruments as classes that share a base by CRTP, log-linear discount
// factors, bootstrapping by Newton, a portfolio valued on the curve in parallel with a credit spread.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <vector>

class DiscountCurve {
public:
    void add(double time, double factor)
    {
        if (!times_.empty() && time <= times_.back()) throw std::invalid_argument("times must rise");
        times_.push_back(time);
        logs_.push_back(std::log(factor));
    }
    void replace_last(double factor) { logs_.back() = std::log(factor); }
    std::size_t size() const noexcept { return times_.size(); }

    double operator()(double t) const
    {
        if (t <= 0) return 1.0;
        const auto it = std::lower_bound(times_.cbegin(), times_.cend(), t);
        if (it == times_.cend()) return std::exp(logs_.back() * t / times_.back());
        const std::size_t k = it - times_.cbegin();
        const double t0 = k ? times_[k - 1] : 0.0, l0 = k ? logs_[k - 1] : 0.0;
        const double w = (t - t0) / (times_[k] - t0);
        return std::exp((1 - w) * l0 + w * logs_[k]);
    }
    double forward(double from, double to) const { return ((*this)(from) / (*this)(to) - 1) / (to - from); }

private:
    std::vector<double> times_, logs_;
};

template <typename Derived>
struct Instrument {
    double error(const DiscountCurve &curve, double quote) const { return static_cast<const Derived *>(this)->rate(curve) - quote; }
    double maturity() const { return static_cast<const Derived *>(this)->end; }
};

struct Deposit : Instrument<Deposit> {
    double end;
    explicit Deposit(double e) : end(e) {}
    double rate(const DiscountCurve &c) const { return c.forward(0.0, end); }
};

struct Future : Instrument<Future> {
    double start, end, convexity;
    Future(double s, double e, double v) : start(s), end(e), convexity(0.5 * v * v * s * e) {}
    double rate(const DiscountCurve &c) const { return c.forward(start, end) + convexity; }
};

struct Swap : Instrument<Swap> {
    double end;
    int per_year;
    Swap(double e, int p) : end(e), per_year(p) {}
    double annuity(const DiscountCurve &c) const
    {
        double sum = 0;
        for (int i = 1; i <= static_cast<int>(std::lround(end * per_year)); ++i) sum += c(double(i) / per_year) / per_year;
        return sum;
    }
    double rate(const DiscountCurve &c) const { return (1 - c(end)) / annuity(c); }
};

template <typename T>
void calibrate(DiscountCurve &curve, const Instrument<T> &instrument, double quote)
{
    const double t = instrument.maturity();
    double yield = quote;
    curve.add(t, std::exp(-yield * t));
    for (int i = 0; i < 8; ++i) {
        const double e = instrument.error(curve, quote), h = 1e-5;
        curve.replace_last(std::exp(-(yield + h) * t));
        const double slope = (instrument.error(curve, quote) - e) / h;
        yield -= e / slope;
        curve.replace_last(std::exp(-yield * t));
    }
}

std::optional<double> spread_for(char rating)
{
    switch (rating) {
    case 'A': return 0.005;
    case 'B': return 0.02;
    case 'C': return 0.06;
    default: return std::nullopt;
    }
}

struct Cashflow {
    double time, amount;
    char rating;
};

// quotes: 2 deposits, 2 futures, 4 swaps
DiscountCurve build(const double *quotes, double volatility)
{
    DiscountCurve curve;
    const Deposit deposits[] = {Deposit(0.25), Deposit(0.5)};
    const Future futures[] = {Future(0.5, 0.75, volatility), Future(0.75, 1.0, volatility)};
    int q = 0;
    for (const auto &d : deposits) calibrate(curve, d, quotes[q++]);
    for (const auto &f : futures) calibrate(curve, f, quotes[q++]);
    for (double end : {2.0, 3.0, 5.0, 7.0}) calibrate(curve, Swap(end, 1), quotes[q++]);
    return curve;
}

double portfolio_value(const double *quotes, const Cashflow *flows, int count, double volatility, double recovery)
{
    const DiscountCurve curve = build(quotes, volatility);
    double value = 0;
#pragma omp parallel for reduction(+ : value)
    for (int i = 0; i < count; ++i) {
        const Cashflow &f = flows[i];
        const double hazard = spread_for(f.rating).value_or(0.1) / (1 - recovery);
        const double survival = std::exp(-hazard * f.time);
        value += f.amount * curve(f.time) * (survival + recovery * (1 - survival));
    }
    return value;
}

void forwards(const double *quotes, double *rates, double *parallel_swaps, int n)
{
    const DiscountCurve curve = build(quotes, 0.01);
    for (int i = 0; i < n; ++i) rates[i] = curve.forward(0.4 * i + 0.1, 0.4 * i + 0.6);
    for (int i = 0; i < n; ++i) parallel_swaps[i] = Swap(i + 1.0, 2).rate(curve);
}

int main()
{
    const double quotes[] = {0.02, 0.021, 0.022, 0.023, 0.024, 0.025, 0.027, 0.028};
    std::vector<Cashflow> flows;
    for (int i = 1; i <= 20; ++i) flows.push_back({0.3 * i, 10.0, "ABC"[i % 3]});
    std::printf("%f\n", portfolio_value(quotes, flows.data(), 20, 0.01, 0.4));
}
