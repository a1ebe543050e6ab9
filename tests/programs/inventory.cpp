// A production plan in the style of a solver's callback: references in and out, float, while and do-while, early returns,
// static tables, std::map for the host's report only.
#include <cmath>
#include <map>
#include <string>
#include <vector>
#include <cstdio>

static const float kSeason[4] = {0.8f, 1.0f, 1.3f, 0.9f};

static bool smooth_positive(float x, float &out)
{
    out = 0.5f * (x + std::sqrt(x * x + 1e-2f));
    return x > 0;
}

void simulate(const float &initial, const std::vector<float> &, float &cost);

void plan_cost(const float *orders, const float *demand, const float &holding, const float &penalty, float &cost,
               float *stock_path, int periods)
{
    float stock = 0.f, total = 0.f;
    int t = 0;
    while (t < periods) {
        stock += orders[t] - demand[t] * kSeason[t % 4];
        float positive, negative;
        smooth_positive(stock, positive);
        smooth_positive(-stock, negative);
        total += holding * positive + penalty * negative + 0.05f * orders[t] * orders[t];
        stock_path[t] = stock;
        ++t;
    }
    cost = total;
}

float economic_order(float demand, float setup, float holding)
{
    if (demand <= 0.f)
        return 0.f;
    float q = demand;
    int k = 0;
    do {
        q = 0.5f * (q + 2.f * demand * setup / (holding * q));
    } while (++k < 8);
    return q;
}

int main()
{
    std::vector<float> orders(12, 5.f), demand(12, 5.f), path(12);
    float holding = 1.f, penalty = 4.f, cost = 0.f;
    plan_cost(orders.data(), demand.data(), holding, penalty, cost, path.data(), 12);
    std::map<std::string, float> report{{"cost", cost}, {"eoq", economic_order(100.f, 5.f, 1.f)}};
    for (const auto &[name, value] : report)
        std::printf("%s %f\n", name.c_str(), value);
}
