// An epidemic in age groups with a contact matrix and interventions: compartments in a struct of vectors, sub-steps by a
// lambda, Poisson and negative-binomial likelihoods of reported cases with a reporting delay, scenarios in parallel.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

struct Rates {
    double transmission, incubation, recovery, waning;
};

struct Intervention {
    int from, to;
    double reduction;
};

class Epidemic {
public:
    Epidemic(int groups, const double *population, const double *contacts, const Rates &rates)
        : n(groups), people(population, population + groups), contacts(contacts, contacts + groups * groups), rates(rates), s(people),
          e(groups), i(groups), r(groups), force(groups)
    {
    }

    void seed(double share)
    {
        for (int g = 0; g < n; ++g) {
            i[g] = share * people[g];
            s[g] -= i[g];
        }
    }

    // new infections of a day, by group
    std::vector<double> day(double reduction, int substeps)
    {
        std::vector<double> fresh(n, 0.0);
        const double h = 1.0 / substeps;
        auto flow = [h](double &from, double &to, double rate) {
            const double moved = from * (1 - std::exp(-rate * h));
            from -= moved;
            to += moved;
            return moved;
        };
        for (int k = 0; k < substeps; ++k) {
            for (int g = 0; g < n; ++g) {
                force[g] = 0;
                for (int o = 0; o < n; ++o) force[g] += contacts[g * n + o] * i[o] / people[o];
                force[g] *= rates.transmission * (1 - reduction);
            }
            for (int g = 0; g < n; ++g) {
                flow(r[g], s[g], rates.waning);
                flow(i[g], r[g], rates.recovery);
                fresh[g] += flow(e[g], i[g], rates.incubation);
                flow(s[g], e[g], force[g]);
            }
        }
        return fresh;
    }

private:
    int n;
    std::vector<double> people, contacts;
    Rates rates;
    std::vector<double> s, e, i, r, force;
};

double reduction_on(int day, const Intervention *plan, int count)
{
    const Intervention *found = std::find_if(plan, plan + count, [day](const Intervention &p) { return day >= p.from && day < p.to; });
    return found == plan + count ? 0.0 : found->reduction;
}

// negative log-likelihood of reports; a share is reported with a delay whose distribution is given
double misfit(const Rates *rates, const double *population, const double *contacts, const Intervention *plan, const double *delay,
              const double *reported, double share, double dispersion, int groups, int interventions, int delays, int days)
{
    Epidemic model(groups, population, contacts, *rates);
    model.seed(1e-3);
    std::vector<std::vector<double>> infections;
    infections.reserve(days);
    for (int d = 0; d < days; ++d) infections.push_back(model.day(reduction_on(d, plan, interventions), 4));
    double nll = 0;
    for (int d = 0; d < days; ++d)
        for (int g = 0; g < groups; ++g) {
            double expected = 1e-6;
            for (int k = 0; k < std::min(delays, d + 1); ++k) expected += share * delay[k] * infections[d - k][g];
            const double y = reported[d * groups + g], q = dispersion / (dispersion + expected);
            nll -= std::lgamma(y + dispersion) - std::lgamma(dispersion) - std::lgamma(y + 1) + dispersion * std::log(q) + y * std::log1p(-q);
        }
    return nll;
}

// totals of many scenarios of transmission at once
void scenarios(const double *transmission, const Rates *base, const double *population, const double *contacts, double *total,
               double *peak, int count, int groups, int days)
{
#pragma omp parallel for
    for (int k = 0; k < count; ++k) {
        Rates rates = *base;
        rates.transmission = transmission[k];
        Epidemic model(groups, population, contacts, rates);
        model.seed(1e-3);
        double sum = 0, highest = 0;
        for (int d = 0; d < days; ++d) {
            const std::vector<double> fresh = model.day(0.0, 2);
            const double today = std::accumulate(fresh.begin(), fresh.end(), 0.0);
            sum += today;
            highest = std::max(highest, today);
        }
        total[k] = sum;
        peak[k] = highest;
    }
}

int main()
{
    const int groups = 3, days = 30;
    const std::vector<double> people = {2e5, 5e5, 3e5}, contacts = {6, 3, 1, 3, 8, 2, 1, 2, 3}, delay = {0.1, 0.3, 0.4, 0.2};
    const std::vector<double> reported(groups * days, 10.0);
    const Rates rates{0.05, 0.3, 0.2, 0.01};
    const Intervention plan[] = {{10, 20, 0.5}};
    std::printf("%f\n", misfit(&rates, people.data(), contacts.data(), plan, delay.data(), reported.data(), 0.3, 5.0, groups, 1, 4, days));
    return 0;
}
