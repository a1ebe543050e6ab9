// Recursive ray tracer: shapes and materials in class hierarchies held by shared_ptr and unique_ptr,
// std::optional hits, one pixel a thread.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

struct Vec {
    double x, y, z;
};
static Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
static Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
static double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec unit(Vec a) { return (1 / std::sqrt(dot(a, a))) * a; }

struct Ray {
    Vec origin, direction;
    Vec at(double t) const { return origin + t * direction; }
};

struct Hit;

class Material {
public:
    virtual ~Material() {}
    virtual Vec emitted(const Vec &) const { return {0, 0, 0}; }
    // direct colour and, if any, where the ray goes on with which weight
    virtual std::optional<std::pair<Ray, double>> scatter(const Ray &in, const Hit &hit) const = 0;
    virtual Vec shade(const Hit &hit, const Vec &light) const = 0;
};

struct Hit {
    double t;
    Vec point, normal;
    const Material *material;
};

class Matte : public Material {
    Vec albedo_;

public:
    explicit Matte(Vec albedo) : albedo_(albedo) {}
    std::optional<std::pair<Ray, double>> scatter(const Ray &, const Hit &) const override { return {}; }
    Vec shade(const Hit &hit, const Vec &light) const override
    {
        return std::max(0.0, dot(hit.normal, light)) * albedo_;
    }
};

class Mirror : public Material {
    Vec tint_;
    double reflectance_;

public:
    Mirror(Vec tint, double reflectance) : tint_(tint), reflectance_(reflectance) {}
    std::optional<std::pair<Ray, double>> scatter(const Ray &in, const Hit &hit) const override
    {
        const Vec out = in.direction - 2 * dot(in.direction, hit.normal) * hit.normal;
        const double schlick = reflectance_ + (1 - reflectance_) * std::pow(1 - std::abs(dot(out, hit.normal)), 5);
        return std::make_pair(Ray{hit.point + 1e-4 * out, out}, schlick);
    }
    Vec shade(const Hit &hit, const Vec &light) const override
    {
        return std::pow(std::max(1e-9, dot(hit.normal, light)), 20.0) * tint_;
    }
};

class Shape {
public:
    virtual ~Shape() = default;
    virtual std::optional<Hit> intersect(const Ray &ray) const = 0;
};

class Sphere final : public Shape {
    Vec centre_;
    double radius_;
    std::shared_ptr<Material> material_;

public:
    Sphere(Vec centre, double radius, std::shared_ptr<Material> m)
        : centre_(centre), radius_(radius), material_(std::move(m))
    {
    }
    std::optional<Hit> intersect(const Ray &ray) const override
    {
        const Vec oc = ray.origin - centre_;
        const double b = dot(oc, ray.direction), c = dot(oc, oc) - radius_ * radius_, d = b * b - c;
        if (d <= 0)
            return std::nullopt;
        double t = -b - std::sqrt(d);
        if (t < 1e-6)
            t = -b + std::sqrt(d);
        if (t < 1e-6)
            return std::nullopt;
        const Vec p = ray.at(t);
        return Hit{t, p, (1 / radius_) * (p - centre_), material_.get()};
    }
};

class Floor final : public Shape {
    double height_;
    std::shared_ptr<Material> material_;

public:
    Floor(double height, std::shared_ptr<Material> m) : height_(height), material_(std::move(m)) {}
    std::optional<Hit> intersect(const Ray &ray) const override
    {
        if (std::abs(ray.direction.y) < 1e-9)
            return {};
        const double t = (height_ - ray.origin.y) / ray.direction.y;
        if (t < 1e-6)
            return {};
        return Hit{t, ray.at(t), {0, 1, 0}, material_.get()};
    }
};

struct Scene {
    std::vector<std::unique_ptr<Shape>> shapes;
    Vec light;
};

static std::optional<Hit> nearest(const Scene &scene, const Ray &ray)
{
    std::optional<Hit> best;
    for (const auto &shape : scene.shapes)
        if (auto hit = shape->intersect(ray))
            if (!best || hit->t < best->t)
                best = hit;
    return best;
}

static Vec trace(const Scene &scene, const Ray &ray, int depth)
{
    const auto hit = nearest(scene, ray);
    if (!hit)
        return (0.5 + 0.5 * ray.direction.y) * Vec{0.5, 0.7, 1.0};
    Vec colour = hit->material->emitted(hit->point) + hit->material->shade(*hit, scene.light);
    if (depth > 0)
        if (const auto next = hit->material->scatter(ray, *hit)) {
            const auto &[out, weight] = *next;
            colour = colour + weight * trace(scene, out, depth - 1);
        }
    return colour;
}

struct Ball {
    double x, y, z, radius, red, green, blue, shine;
};

static Scene build(const Ball *balls, int count, const double *light)
{
    Scene scene{{}, unit({light[0], light[1], light[2]})};
    for (int i = 0; i < count; ++i) {
        const Ball &b = balls[i];
        std::shared_ptr<Material> material;
        if (b.shine > 0.5)
            material = std::make_shared<Mirror>(Vec{b.red, b.green, b.blue}, b.shine);
        else
            material = std::make_shared<Matte>(Vec{b.red, b.green, b.blue});
        scene.shapes.push_back(std::make_unique<Sphere>(Vec{b.x, b.y, b.z}, b.radius, material));
    }
    scene.shapes.emplace_back(new Floor(-2, std::make_shared<Matte>(Vec{0.4, 0.5, 0.6})));
    return scene;
}

void render(const Ball *balls, int count, const double *light, double *image, int width, int height)
{
    const Scene scene = build(balls, count, light);
#pragma omp parallel for collapse(2)
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i) {
            const Vec d = unit({(i + 0.5) / width - 0.5, (j + 0.5) / height - 0.5, -1});
            const Vec c = trace(scene, {{0, 0, 0}, d}, 2);
            double *pixel = image + 3 * (j * width + i);
            pixel[0] = c.x;
            pixel[1] = c.y;
            pixel[2] = c.z;
        }
}

double brightness(const Ball *balls, int count, const double *light, int n)
{
    const Scene scene = build(balls, count, light);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const Vec c = trace(scene, {{0, 0, 0}, unit({0.1 * i - 0.05 * n, 0.02, -1})}, 3);
        sum += c.x + c.y + c.z;
    }
    return sum;
}

int main()
{
    const Ball ball{0, 0, -5, 1, 1, 0, 0, 0.9};
    const double light[3] = {1, 1, 1};
    std::cout << brightness(&ball, 1, light, 3) << '\n';
}
