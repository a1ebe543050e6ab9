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

struct Vec3 { double x, y, z; };

struct Spring {
    int from, to;
    double rest;
};

// all velocities start at zero: what they hold shows only where the class uses them
class Chain {
public:
    Chain(const double *x, int n)
    {
        for (int i = 0; i < n; ++i) {
            position_.push_back({x[3 * i], x[3 * i + 1], x[3 * i + 2]});
            velocity_.push_back({0, 0, 0});
        }
    }

    void connect(int from, int to, double rest) { springs_.push_back({from, to, rest}); }

    void step(double dt)
    {
        for (const Spring &s : springs_) {
            const Vec3 &a = position_[s.from], &b = position_[s.to];
            const double x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, length = std::sqrt(x * x + y * y + z * z);
            const double pull = dt * (length - s.rest) / length;
            velocity_[s.from] = {velocity_[s.from].x + pull * x, velocity_[s.from].y + pull * y,
                                 velocity_[s.from].z + pull * z};
        }
        for (std::size_t i = 0; i < position_.size(); ++i) {
            position_[i].x += dt * velocity_[i].x;
            position_[i].y += dt * velocity_[i].y;
            position_[i].z += dt * velocity_[i].z;
        }
    }

    double height() const
    {
        double sum = 0;
        for (const Vec3 &p : position_)
            sum += p.z * p.z + p.x;
        return sum;
    }

private:
    std::vector<Vec3> position_, velocity_;
    std::vector<Spring> springs_;
};

double swung(const double *x, const double *rest, int n, int steps)
{
    Chain chain(x, n);
    for (int i = 0; i + 1 < n; ++i)
        chain.connect(i, i + 1, rest[i]);
    for (int s = 0; s < steps; ++s)
        chain.step(0.1);
    return chain.height();
}

int main()
{
    const double p[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, x[4] = {1, 0.7, 0.3, 0.9};
    double out[2];
    std::printf("%g %g %g\n", torques(p, x, 4), poses(p, x, out, 4, 2), pyramid(x, 4));
}
