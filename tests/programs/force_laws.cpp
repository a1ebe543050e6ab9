// Laws of force as objects that share a base and little else: numbers, coefficients, other laws. A team asks one.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

struct Law {
    virtual ~Law() = default;
    virtual double force(double x) const = 0;
};

class Polynomial : public Law {
    std::vector<double> coefficients_;

public:
    Polynomial(const double *from, int count) : coefficients_(from, from + count) {}
    double force(double x) const override
    {
        double sum = 0;
        for (auto c = coefficients_.rbegin(); c != coefficients_.rend(); ++c)
            sum = sum * x + *c;
        return sum;
    }
};

class Wave : public Law {
    double amplitude_, frequency_;

public:
    Wave(double amplitude, double frequency) : amplitude_(amplitude), frequency_(frequency) {}
    double force(double x) const override { return amplitude_ * std::sin(frequency_ * x); }
};

class Sum : public Law {
    std::vector<std::shared_ptr<Law>> parts_;

public:
    void add(std::shared_ptr<Law> part) { parts_.push_back(std::move(part)); }
    double force(double x) const override
    {
        double sum = 0;
        for (const auto &part : parts_)
            sum += part->force(x);
        return sum;
    }
};

double work(const double *parameters, const double *x, double *forces, int n)
{
    auto sum = std::make_shared<Sum>();
    sum->add(std::make_shared<Polynomial>(parameters, 3));
    sum->add(std::make_shared<Wave>(parameters[3], parameters[4]));
    const std::shared_ptr<Law> law = sum;
    double total = 0;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; ++i) {
        forces[i] = law->force(x[i]);
        total += forces[i] * x[i];
    }
    return total;
}

int main()
{
    const double parameters[5] = {1, 2, 3, 0.5, 2}, x[2] = {0.1, 0.2};
    double forces[2];
    std::printf("%g\n", work(parameters, x, forces, 2));
}
