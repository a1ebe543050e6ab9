// Finite elements: total energy of a neo-Hookean membrane of triangles, with contact to a sphere; classes, virtual material
// laws, exceptions for degenerate elements.
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

struct Point2 {
    double x, y;
    friend Point2 operator-(Point2 a, Point2 b) { return {a.x - b.x, a.y - b.y}; }
};

struct Tensor2 {
    double xx, xy, yx, yy;
    double det() const { return xx * yy - xy * yx; }
    double squared() const { return xx * xx + xy * xy + yx * yx + yy * yy; }
    Tensor2 inverse() const
    {
        const double d = 1.0 / det();
        return {yy * d, -xy * d, -yx * d, xx * d};
    }
    friend Tensor2 operator*(const Tensor2 &a, const Tensor2 &b)
    {
        return {a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy, a.yx * b.xx + a.yy * b.yx, a.yx * b.xy + a.yy * b.yy};
    }
};

class Material {
public:
    virtual ~Material() = default;
    virtual double energy(const Tensor2 &f) const = 0;
};

class NeoHookean : public Material {
public:
    NeoHookean(double mu, double lambda) : mu_(mu), lambda_(lambda) {}
    double energy(const Tensor2 &f) const override
    {
        const double j = f.det();
        if (j <= 0)
            throw std::domain_error("an element is inverted");
        const double l = std::log(j);
        return 0.5 * mu_ * (f.squared() - 2.0) - mu_ * l + 0.5 * lambda_ * l * l;
    }

private:
    double mu_, lambda_;
};

static Tensor2 edges(const Point2 *p, const int *t)
{
    const Point2 a = p[t[1]] - p[t[0]], b = p[t[2]] - p[t[0]];
    return {a.x, b.x, a.y, b.y};
}

double total_energy(const Point2 *rest, const Point2 *now, const int *triangles, const double *moduli, int count)
{
    std::unique_ptr<Material> law(new NeoHookean(moduli[0], moduli[1]));
    double e = 0;
    for (int t = 0; t < count; ++t) {
        const Tensor2 reference = edges(rest, triangles + 3 * t);
        const double area = 0.5 * std::fabs(reference.det());
        e += area * law->energy(edges(now, triangles + 3 * t) * reference.inverse());
    }
    return e;
}

double contact_energy(const Point2 *now, const Point2 &centre, const double &radius, double stiffness, int n)
{
    double e = 0;
#pragma omp parallel for reduction(+ : e)
    for (int i = 0; i < n; ++i) {
        const Point2 d = now[i] - centre;
        const double gap = std::hypot(d.x, d.y) - radius;
        if (gap < 0)
            e += 0.5 * stiffness * gap * gap;
    }
    return e;
}

int main()
{
    const std::vector<Point2> rest{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    std::vector<Point2> now = rest;
    now[3] = {1.2, 1.1};
    const int triangles[] = {0, 1, 2, 1, 3, 2};
    const double moduli[] = {1.0, 2.0};
    std::printf("%g %g\n", total_energy(rest.data(), now.data(), triangles, moduli, 2),
                contact_energy(now.data(), {0.5, 0.5}, 1.0, 3.0, 4));
}
