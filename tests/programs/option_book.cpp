// A book of European options: a class hierarchy-free design with enum class, exceptions for bad input, std::erf and pow.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

enum class Side : std::int8_t { call, put };

struct Market {
    double rate;
    double dividend;
    double skew;
};

struct Contract {
    double spot, strike, expiry, vol;
};

namespace {
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double smile(const Contract &c, const Market &m)
{
    const double moneyness = std::log(c.strike / c.spot) / std::sqrt(c.expiry);
    return c.vol * (1.0 + m.skew * moneyness + 0.5 * std::pow(moneyness, 2));
}
} // namespace

double price(const Contract &c, const Market &m, Side side)
{
    if (c.expiry <= 0.0)
        throw std::invalid_argument("an option needs time to expiry, not " + std::to_string(c.expiry));
    const double sigma = smile(c, m), root = sigma * std::sqrt(c.expiry);
    const double forward = c.spot * std::exp((m.rate - m.dividend) * c.expiry);
    const double d1 = std::log(forward / c.strike) / root + 0.5 * root, d2 = d1 - root;
    const double discount = std::exp(-m.rate * c.expiry);
    switch (side) {
    case Side::call:
        return discount * (forward * normal_cdf(d1) - c.strike * normal_cdf(d2));
    case Side::put:
        return discount * (c.strike * normal_cdf(-d2) - forward * normal_cdf(-d1));
    }
    throw std::logic_error("unknown side");
}

void price_book(const Contract *book, const std::int8_t *sides, const Market *market, double *values, std::size_t count)
{
#pragma omp parallel for
    for (std::size_t i = 0; i < count; ++i)
        values[i] = price(book[i], *market, static_cast<Side>(sides[i]));
}

int main()
{
    std::vector<Contract> book(100, Contract{100, 105, 0.5, 0.2});
    std::vector<std::int8_t> sides(100, 0);
    std::vector<double> values(100);
    const Market m{0.02, 0.01, -0.1};
    price_book(book.data(), sides.data(), &m, values.data(), book.size());
    std::cout << values[0] << '\n';
    try {
        price(Contract{100, 100, 0, 0.2}, m, Side::put);
    } catch (const std::exception &e) {
        std::cerr << e.what() << '\n';
    }
}
