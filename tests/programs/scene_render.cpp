// A ray caster for host cores: shapes in vectors of variants by tag, a camera class, Phong shading with soft spheres, rows
// dealt to threads dynamically, an image loss against a picture. Exceptions for empty scenes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

namespace scene {

struct Vec {
    double c[3] = {0, 0, 0};
    double operator[](int i) const { return c[i]; }
    double &operator[](int i) { return c[i]; }
};
inline Vec operator+(const Vec &a, const Vec &b) { return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}}; }
inline Vec operator-(const Vec &a, const Vec &b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
inline Vec operator*(double s, const Vec &a) { return {{s * a[0], s * a[1], s * a[2]}}; }
inline double dot(const Vec &a, const Vec &b)
{
    double s = 0;
    for (int i = 0; i < 3; ++i) s += a[i] * b[i];
    return s;
}
inline Vec unit(const Vec &a) { return (1 / std::sqrt(dot(a, a))) * a; }

struct Ray {
    Vec origin, direction;
    Vec at(double t) const { return origin + t * direction; }
};

enum class Kind : std::int32_t { Sphere, Plane, Blob };

struct Shape {
    Kind kind;
    Vec position;       // centre, or normal of a plane
    double size;        // radius, or distance of a plane
    std::array<double, 3> colour;
    double shine;
};

struct Hit {
    double t = std::numeric_limits<double>::infinity();
    const Shape *shape = nullptr;
    Vec normal;
    explicit operator bool() const { return shape != nullptr; }
};

class Camera {
public:
    Camera(Vec eye, double field, int width, int height) : eye_(eye), scale_(std::tan(0.5 * field)), width_(width), height_(height) {}
    Ray through(int x, int y) const
    {
        const double u = (2 * (x + 0.5) / width_ - 1) * scale_, v = (1 - 2 * (y + 0.5) / height_) * scale_ * height_ / width_;
        return {eye_, unit({{u, v, -1.0}})};
    }

private:
    Vec eye_;
    double scale_;
    int width_, height_;
};

class World {
public:
    World(const Shape *shapes, int count) : shapes_(shapes, shapes + count)
    {
        if (shapes_.empty()) throw std::invalid_argument("an empty scene");
    }

    Hit nearest(const Ray &ray) const
    {
        Hit best;
        for (const Shape &s : shapes_) {
            if (s.kind == Kind::Blob) continue;
            const double t = s.kind == Kind::Sphere ? sphere(s, ray) : plane(s, ray);
            if (t > 1e-4 && t < best.t) {
                best.t = t;
                best.shape = &s;
            }
        }
        if (best) best.normal = best.shape->kind == Kind::Sphere ? unit(ray.at(best.t) - best.shape->position) : unit(best.shape->position);
        return best;
    }

    // light that blobs add along the ray, by their nearest approach
    double glow(const Ray &ray, int channel) const
    {
        double sum = 0;
        std::for_each(shapes_.begin(), shapes_.end(), [&](const Shape &s) {
            if (s.kind != Kind::Blob) return;
            const Vec to = s.position - ray.origin;
            const double along = dot(to, ray.direction), off2 = dot(to, to) - along * along;
            sum += s.colour[channel] * std::exp(-off2 / (s.size * s.size));
        });
        return sum;
    }

private:
    std::vector<Shape> shapes_;

    static double sphere(const Shape &s, const Ray &ray)
    {
        const Vec oc = ray.origin - s.position;
        const double b = dot(oc, ray.direction), disc = b * b - dot(oc, oc) + s.size * s.size;
        if (disc < 0) return -1;
        const double root = std::sqrt(disc);
        return -b - root > 1e-4 ? -b - root : -b + root;
    }
    static double plane(const Shape &s, const Ray &ray)
    {
        const double slope = dot(s.position, ray.direction);
        return std::fabs(slope) < 1e-9 ? -1 : (s.size - dot(s.position, ray.origin)) / slope;
    }
};

double shade(const World &world, const Ray &ray, const Hit &hit, const Vec &light, int channel)
{
    const Vec point = ray.at(hit.t), to = unit(light - point);
    const double diffuse = std::max(dot(hit.normal, to), 0.0);
    const Vec mirrored = 2 * dot(hit.normal, to) * hit.normal - to;
    const double highlight = std::pow(std::max(-dot(mirrored, ray.direction), 1e-3), hit.shape->shine);
    const bool dark = static_cast<bool>(world.nearest({point + 1e-3 * hit.normal, to}));
    return hit.shape->colour[channel] * (0.1 + (dark ? 0.2 : 1.0) * diffuse) + 0.3 * highlight;
}

void render(const Shape *shapes, const double *light, double *image, int count, int width, int height)
{
    const World world(shapes, count);
    const Camera camera({{0, 0, 0}}, 1.0, width, height);
    const Vec lamp{{light[0], light[1], light[2]}};
#pragma omp parallel for schedule(dynamic, 1)
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const Ray ray = camera.through(x, y);
            const Hit hit = world.nearest(ray);
            for (int c = 0; c < 3; ++c)
                image[(y * width + x) * 3 + c] = world.glow(ray, c) + (hit ? shade(world, ray, hit, lamp, c) : 0.2 + 0.1 * ray.direction[1]);
        }
}

double picture_loss(const Shape *shapes, const double *light, const double *wanted, int count, int width, int height)
{
    std::vector<double> image(3 * width * height);
    render(shapes, light, image.data(), count, width, height);
    double loss = 0;
    for (std::size_t i = 0; i < image.size(); ++i) loss += (image[i] - wanted[i]) * (image[i] - wanted[i]);
    return loss / image.size();
}

}  // namespace scene

int main()
{
    const scene::Shape shapes[] = {{scene::Kind::Sphere, {{0, 0, -4}}, 1, {0.8, 0.2, 0.2}, 20}, {scene::Kind::Plane, {{0, 1, 0}}, -1, {0.5, 0.5, 0.5}, 5}};
    const double light[] = {2, 3, 0};
    std::vector<double> image(3 * 16 * 12);
    scene::render(shapes, light, image.data(), 2, 16, 12);
    std::printf("%f\n", image[0]);
}
