// Risk of a portfolio: a factor model with templates and operator overloading, smooth expected shortfall, constraints as
// penalties; nothing parallel, everything in one header-like file.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

template <typename T>
class Vector {
public:
    explicit Vector(std::size_t n, T value = T{}) : data_(n, value) {}
    Vector(const T *from, std::size_t n) : data_(from, from + n) {}
    T &operator[](std::size_t i) { return data_[i]; }
    const T &operator[](std::size_t i) const { return data_[i]; }
    std::size_t size() const { return data_.size(); }
    auto begin() const { return data_.begin(); }
    auto end() const { return data_.end(); }

    friend T dot(const Vector &a, const Vector &b)
    {
        return std::inner_product(a.begin(), a.end(), b.begin(), T{});
    }
    Vector &operator+=(const Vector &o)
    {
        for (std::size_t i = 0; i < size(); ++i)
            data_[i] += o[i];
        return *this;
    }

private:
    std::vector<T> data_;
};

struct Risk {
    double variance;
    double shortfall;
    std::optional<double> penalty;
};

static Risk evaluate(const Vector<double> &weights, const double *scenarios, int count, double level)
{
    const std::size_t assets = weights.size();
    std::vector<double> losses;
    for (int s = 0; s < count; ++s)
        losses.push_back(-dot(weights, Vector<double>(scenarios + s * assets, assets)));
    const double mean = std::accumulate(losses.begin(), losses.end(), 0.0) / count;
    double variance = 0;
    for (const auto &l : losses)
        variance += (l - mean) * (l - mean);
    std::sort(losses.begin(), losses.end(), [](double a, double b) { return a > b; });
    const int tail = std::max(1, static_cast<int>(level * count));
    const double shortfall = std::accumulate(losses.begin(), losses.begin() + tail, 0.0) / tail;
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::optional<double> penalty;
    if (std::abs(total - 1.0) > 1e-3)
        penalty = 10.0 * std::pow(total - 1.0, 2);
    return {variance / (count - 1), shortfall, penalty};
}

double objective(const double *weights, const double *scenarios, const double *expected, int assets, int count,
                 double level, double aversion)
{
    Vector<double> w(weights, assets);
    const auto [variance, shortfall, penalty] = evaluate(w, scenarios, count, level);
    const double reward = dot(w, Vector<double>(expected, assets));
    return aversion * std::sqrt(variance) + shortfall - reward + penalty.value_or(0.0);
}

int main()
{
    std::map<std::string, double> book{{"bonds", 0.6}, {"shares", 0.4}};
    std::vector<double> w, scenarios(200), expected{0.01, 0.03};
    for (const auto &[name, weight] : book)
        w.push_back(weight);
    for (std::size_t i = 0; i < scenarios.size(); ++i)
        scenarios[i] = 0.1 * std::sin(1.0 * i * i);
    std::printf("%f\n", objective(w.data(), scenarios.data(), expected.data(), 2, 100, 0.05, 1.0));
}
