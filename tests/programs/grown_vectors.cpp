// Vectors that grow by push_back in one loop and whose sizes others need: backwards, in tables of rows, in a team, until one is left.
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

struct Link {
    double a, b, c;
    int kind;
};

static std::vector<Link> chain(const double *p, int n)
{
    std::vector<Link> links;
    for (int i = 0; i < n; ++i, p += 3)
        links.push_back({p[0], p[1], p[2], i % 2});
    return links;
}

static std::vector<double> there_and_back(const std::vector<Link> &links, const double *x)
{
    const std::size_t n = links.size();
    std::vector<double> up(n), down(n);
    double carry = 1;
    for (std::size_t i = 0; i < n; ++i) {
        carry = std::sin(carry * links[i].a) + x[i] * links[i].b;
        up[i] = carry * carry;
    }
    for (std::size_t i = n; i-- > 0;) {
        down[i] = up[i] * links[i].c + (links[i].kind ? carry : x[i]);
        if (i)
            up[i - 1] += std::cos(down[i]);
        carry = down[i];
    }
    return down;
}

double torques(const double *p, const double *x, int n)
{
    double sum = 0;
    for (double t : there_and_back(chain(p, n), x))
        sum += t * t;
    return sum;
}

double poses(const double *p, const double *x, double *out, int n, int count)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int r = 0; r < count; ++r) {
        const auto links = chain(p + r, n - r);
        const auto d = there_and_back(links, x);
        out[r] = 0;
        for (std::size_t k = d.size(); k-- > 0;)
            out[r] += d[k] * links[d.size() - 1 - k].b;
        sum += out[r] * out[r];
    }
    return sum;
}

double pyramid(const double *x, int n)
{
    std::vector<double> level;
    for (int i = 0; i < n; ++i)
        if (x[i] > 0.5)
            level.push_back(x[i] * x[i]);
    double sum = 0;
    while (level.size() > 1) {
        std::vector<double> next;
        for (std::size_t i = 0; i + 1 < level.size(); i += 2)
            next.push_back(std::sin(level[i]) * level[i + 1]);
        if (level.size() % 2)
            next.push_back(level.back());
        sum += next.front() / next.size();
        level = std::move(next);
    }
    return sum;
}

int main()
{
    const double p[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, x[4] = {1, 0.7, 0.3, 0.9};
    double out[2];
    std::printf("%g %g %g\n", torques(p, x, 4), poses(p, x, out, 4, 2), pyramid(x, 4));
}
