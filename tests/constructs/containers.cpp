// C++ on the host, without OpenMP: containers of containers, and what holds memory of its own.
#include <adgen.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

double neighbour_lists(const double *x, int n)
{
    std::vector<std::vector<int>> neighbours(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            if (x[i] * x[k] > 0) neighbours[i].push_back(k);
    double sum = 0;
    for (int i = 0; i < n; ++i)
        for (const int k : neighbours[i]) sum += x[i] * x[k] * x[k];
    return sum;
}

double sums_by_key(const double *x, int n)
{
    std::unordered_map<int, double> sums;
    for (int i = 0; i < n; ++i) sums[i % 3] += x[i] * x[i];
    return sums[0] * sums[1];
}

double sums_in_order(const double *x, int n)
{
    std::map<int, double> sums;
    for (int i = 0; i < n; ++i) sums[(i * 7) % 5] += x[i] * x[i];
    double sum = 0;
    for (const auto &[key, value] : sums) sum = 0.5 * sum + key * value;
    return sum * sums.lower_bound(2)->second;
}

double numbers_in_order(const double *x, int n)
{
    const std::set<double> sorted(x, x + n);
    double sum = 0, weight = 1;
    for (const double each : sorted) {
        sum += weight * each * each;
        weight *= 0.7;
    }
    return sum + 2 * *sorted.lower_bound(0.1) + sorted.size() * *sorted.rbegin();
}

double middle_of_the_last(const double *x, int n)
{
    std::multiset<double> last;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        last.insert(x[i]);
        if (i >= 9) last.erase(last.find(x[i - 9]));
        sum += (1 + i % 3) * std::pow(*std::next(last.begin(), last.size() / 2), 2);
    }
    return sum;
}

double spliced_lists(const double *x, int n)
{
    std::list<double> some(x, x + n / 2), others;
    for (int i = n / 2; i < n; ++i) others.push_front(x[i] * x[i - 1]);
    some.splice(std::next(some.begin(), 3), others, std::next(others.begin()), std::next(others.begin(), 5));
    some.swap(others);
    some.remove_if([](double each) { return each > 0.8; });
    others.reverse();
    others.sort();
    some.sort();
    some.merge(others);
    double sum = 0;
    for (const double each : some) sum = 0.9 * sum + each * each;
    return sum + others.size();
}

struct Reading {
    int place;
    double value, weight;
};

double readings_moved(const double *x, int n)
{
    std::vector<Reading> readings;
    for (int i = 0; i < n; ++i) {
        const Reading next{i, x[i], x[i] * x[(i + 1) % n]};
        const auto less = [](const Reading &one, const Reading &other) { return one.weight < other.weight; };
        readings.insert(std::upper_bound(readings.begin(), readings.end(), next, less), next);
    }
    readings.erase(readings.begin() + 1, readings.begin() + 3);
    std::vector<Reading> copies = readings, nearest;
    std::nth_element(copies.begin(), copies.begin() + n / 2, copies.end(),
                     [](const Reading &one, const Reading &other) { return one.value < other.value; });
    nearest.assign(copies.begin(), copies.begin() + n / 2);
    std::rotate(readings.begin(), readings.begin() + n / 3, readings.end());
    double sum = 0;
    for (const Reading &each : readings) sum = 0.9 * sum + each.value * each.weight;
    for (const Reading &each : nearest) sum += each.value * each.weight * (1 + each.place % 5);
    return sum;
}

struct Order {
    double price, size;
};

double orders_taken(const double *x, int n)
{
    std::map<int, std::list<Order>> levels;
    for (int i = 0; i < n; ++i) levels[i % 7].push_back({x[i], 1 + std::abs(x[(i + 1) % n])});
    double paid = 0, wanted = n / 3.0 + x[0];
    while (wanted > 0) {
        auto level = levels.begin();
        Order &first = level->second.front();
        const double taken = std::min(wanted, first.size);
        paid += taken * first.price;
        wanted -= taken;
        first.size -= taken;
        if (first.size == 0) level->second.pop_front();
        if (level->second.empty()) levels.erase(level);
    }
    for (const auto &level : levels)
        for (const Order &left : level.second) paid += 0.1 * left.size * left.size * level.second.size();
    return paid;
}

struct Found {
    double value;
    std::unique_ptr<Found> less, more;
    explicit Found(double value) : value(value) {}

    void insert(double other)
    {
        auto &next = other < value ? less : more;
        if (next) next->insert(other);
        else next = std::make_unique<Found>(other);
    }

    double folded(int depth) const
    {
        return value * value * depth + (less ? less->folded(depth + 1) : 0) +
               (more ? std::sin(value) * more->folded(depth + 1) : 0);
    }
};

double search_tree(const double *x, int n)
{
    Found root(x[0]);
    for (int i = 1; i < n; ++i) root.insert(x[i]);
    return root.folded(1);
}

struct Stage {
    virtual ~Stage() = default;
    virtual double forward(double x) = 0;
};

struct Weighted : Stage {
    std::vector<double> weights;
    Weighted(double scale, double shift) : weights{scale, shift} {}
    double forward(double x) override { return std::tanh(weights[0] * x + weights[1]); }
};

struct Dropping : Stage {
    unsigned seed = 1;
    double forward(double x) override
    {
        seed = seed * 1664525u + 1013904223u;
        return seed >> 31 ? x : 0.5 * x;
    }
};

double layers_with_other_members(const double *x, int n)
{
    std::vector<std::unique_ptr<Stage>> layers;
    layers.push_back(std::make_unique<Weighted>(x[0], x[1]));
    layers.push_back(std::make_unique<Dropping>());
    layers.push_back(std::make_unique<Weighted>(x[2], x[3]));
    double sum = 0;
    for (int i = 4; i < n; ++i) {
        double value = x[i];
        for (auto &layer : layers) value = layer->forward(value);
        sum += value * value;
    }
    return sum;
}

double arrays_in_turn(const double *x, int n)
{
    double *now = new double[n];
    for (int i = 0; i < n; ++i) now[i] = x[i];
    for (int step = 0; step < 4; ++step) {
        double *next = new double[n];
        for (int i = 0; i < n; ++i) next[i] = now[i] * x[i] + 0.5 * now[(i + 1) % n];
        delete[] now;
        now = next;
    }
    const double result = now[1] * now[0];
    delete[] now;
    return result;
}

double vectors_moved(const double *x, int n)
{
    std::vector<double> now(4, 1.0), best(4);
    for (int i = 0; i < n; ++i) {
        std::vector<double> next(4), better(4);
        for (int k = 0; k < 4; ++k) {
            next[k] = now[k] * x[i] + 0.3 * now[(k + 1) % 4];
            better[k] = std::max(0.5 * best[(k + 1) % 4], next[k] - 1.2);
        }
        best.swap(better);
        now = std::move(next);
    }
    return best[0] + best[1];
}

struct Layer {
    int width;
    std::vector<double> bias, weight;
};

double layers(const double *x, int n)
{
    std::vector<Layer> net;
    for (int width = n; width > 1; width /= 2) net.push_back({width, std::vector<double>(width), std::vector<double>(width, 0.5)});
    for (int i = 0; i < n; ++i) net[0].bias[i] = x[i];
    for (std::size_t k = 0; k + 1 < net.size(); ++k)
        for (int i = 0; i + 1 < net[k].width; i += 2)
            net[k + 1].bias[i / 2] += net[k].weight[i] * net[k].bias[i] * net[k].bias[i + 1] + net[k].bias[i];
    return net.back().bias[0];
}

class Knots {
    std::vector<double> at;
    int order;

public:
    Knots(int n, int order) : at(n + order), order(order)
    {
        for (int i = 0; i < n + order; ++i) at[i] = i < order ? 0 : i - order;
    }
    double weighted(const double *x, int n) const
    {
        std::vector<double> part(x + n - order, x + n);
        double sum = 0;
        for (int i = 0; i < order; ++i) sum += part[i] * part[i] * at[n + i];
        return sum;
    }
};

double vector_beside_a_number(const double *x, int n)
{
    const Knots knots(n, 3);
    return knots.weighted(x, n);
}

struct Split {
    double at;
    std::unique_ptr<Split> below, above;
    int axis = -1;
};

static std::unique_ptr<Split> grown(const double *x, int n, int depth)
{
    auto split = std::make_unique<Split>();
    split->at = x[depth] * x[n - 1 - depth];
    if (depth == 3) return split;
    split->axis = depth % 2;
    split->below = grown(x, n, depth + 1);
    split->above = grown(x + 1, n - 1, depth + 1);
    return split;
}

static double reached(const Split &split, const double *x)
{
    if (!split.below) return split.at;
    const double to = 1 / (1 + std::exp(x[split.axis] - split.at));
    return to * reached(*split.below, x) + (1 - to) * reached(*split.above, x);
}

double tree_of_pointers(const double *x, int n)
{
    return reached(*grown(x, n, 0), x);
}

struct Sample {
    double value;
    float weight;
    int kind;
};

double vector_of_samples(const double *x, int n)
{
    std::vector<std::vector<Sample>> groups(3);
    for (int i = 0; i < n; ++i) groups[i % 3].push_back({x[i], 0.25f * (i + 1), i % 2});
    const std::vector<std::vector<Sample>> copies(groups);
    double sum = 0;
    for (const auto &group : copies)
        for (const Sample &s : group) sum += s.kind ? s.value * s.value * s.weight : s.value;
    return sum;
}

double rows_of_samples(const double *x, int n)
{
    Sample **rows = new Sample *[3];
    for (int k = 0; k < 3; ++k) {
        rows[k] = new Sample[n];
        for (int i = 0; i < n; ++i) rows[k][i] = {x[i] * k, float(k), i};
    }
    for (int k = 2; k > 0; --k) std::copy(rows[k], rows[k] + n, rows[k - 1]);
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < n; ++i) sum += rows[k][i].value * rows[k][i].value * rows[k][i].weight * rows[k][i].kind;
        delete[] rows[k];
    }
    delete[] rows;
    return sum;
}

struct Motion {
    std::vector<double> q, p;
    double time = 0;
};

Motion kicked(Motion m, double h)
{
    for (std::size_t i = 0; i < m.q.size(); ++i) m.p[i] -= h * std::sin(m.q[i]) * (1 + m.time);
    m.time += h;
    return m;
}

Motion drifted(const Motion &m, double h)
{
    Motion next = m;
    for (std::size_t i = 0; i < m.q.size(); ++i) next.q[i] += h * m.p[i];
    return next;
}

double handed_on_by_value(const double *x, int n)
{
    Motion m{std::vector<double>(x, x + n), std::vector<double>(n, 0.1)};
    for (int k = 0; k < 3; ++k) m = drifted(kicked(std::move(m), 0.1), 0.1);
    double energy = m.time;
    for (int i = 0; i < n; ++i) energy += m.p[i] * m.p[i] - std::cos(m.q[i]);
    return energy;
}

struct Rows {
    struct Row {
        int length;
        std::vector<double> value;
    };
    std::vector<Row> all;

    void add(int length, const double *&from)
    {
        Row row{length, std::vector<double>(from, from + length)};
        from += length;
        all.push_back(std::move(row));
    }
};

double appended_by_a_function(const double *x, int n)
{
    Rows rows;
    const double *at = x;
    rows.add(n / 2, at);
    rows.add(n / 4, at);
    rows.add(n / 4, at);
    double sum = 0;
    for (const Rows::Row &row : rows.all) sum += row.value[0] * row.value[row.length - 1];
    return sum;
}

struct Placed {
    int place;
    float value;
};

double sorted_with_places(const float *x, int n)
{
    std::vector<Placed> all;
    for (int i = 0; i < n; ++i) all.push_back({i, x[i]});
    std::sort(all.begin(), all.end(), [](const Placed &a, const Placed &b) { return a.value < b.value; });
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (all[i].place + 1) * all[i].value * all[i].value;
    return sum;
}
