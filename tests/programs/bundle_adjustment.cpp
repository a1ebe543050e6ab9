// Bundle adjustment: cameras with rotation vectors and radial distortion, robust reprojection errors, normal equations
// accumulated in parallel. Functors templated over the scalar, as people write them for automatic differentiation.
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

template <typename T>
struct Vec2 { T x, y; };

template <typename T>
struct Vec3 {
    T x, y, z;
    Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec3 operator-(const Vec3 &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec3 operator*(T s) const { return {x * s, y * s, z * s}; }
    T dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
    Vec3 cross(const Vec3 &o) const { return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x}; }
};

template <typename T>
struct Camera {
    Vec3<T> rotation, translation;
    T focal, k1, k2;
};

struct Observation {
    int camera, point;
    double u, v;
};

template <typename T>
Vec3<T> rotate(const Vec3<T> &axis_angle, const Vec3<T> &p)
{
    const T theta2 = axis_angle.dot(axis_angle);
    if (theta2 > T(1e-12)) {
        const T theta = std::sqrt(theta2);
        const Vec3<T> w = axis_angle * (T(1) / theta);
        const T c = std::cos(theta), s = std::sin(theta);
        return p * c + w.cross(p) * s + w * (w.dot(p) * (T(1) - c));
    }
    return p + axis_angle.cross(p);
}

class ReprojectionError {
public:
    explicit ReprojectionError(const Observation &o) : observed_(o) {}

    template <typename T>
    bool operator()(const Camera<T> &camera, const Vec3<T> &point, std::array<T, 2> &residual) const
    {
        const Vec3<T> p = rotate(camera.rotation, point) + camera.translation;
        if (p.z > T(-0.1)) return false;        // behind the camera
        const T x = -p.x / p.z, y = -p.y / p.z;
        const T r2 = x * x + y * y;
        const T distortion = T(1) + r2 * (camera.k1 + camera.k2 * r2);
        residual[0] = camera.focal * distortion * x - T(observed_.u);
        residual[1] = camera.focal * distortion * y - T(observed_.v);
        return true;
    }

private:
    Observation observed_;
};

// rho(s) of Huber, Cauchy and Tukey by a tag
struct Huber {
    double width;
    double operator()(double s) const { return s <= width * width ? s : 2 * width * std::sqrt(s) - width * width; }
};
struct Cauchy {
    double width;
    double operator()(double s) const { return width * width * std::log1p(s / (width * width)); }
};

template <typename Loss>
double cost(const Camera<double> *cameras, const Vec3<double> *points, const Observation *observations, int count, Loss loss)
{
    double total = 0;
    int skipped = 0;
#pragma omp parallel for reduction(+ : total, skipped) schedule(static)
    for (int i = 0; i < count; ++i) {
        const Observation &o = observations[i];
        std::array<double, 2> r{};
        if (!ReprojectionError(o)(cameras[o.camera], points[o.point], r)) {
            ++skipped;
            continue;
        }
        total += 0.5 * loss(r[0] * r[0] + r[1] * r[1]);
    }
    return total + 10.0 * skipped;
}

double huber_cost(const Camera<double> *cameras, const Vec3<double> *points, const Observation *observations, int count)
{
    return cost(cameras, points, observations, count, Huber{1.0});
}

double cauchy_cost(const Camera<double> *cameras, const Vec3<double> *points, const Observation *observations, int count,
                   double width)
{
    return cost(cameras, points, observations, count, Cauchy{width});
}

// epipolar constraint of matched pairs under a relative pose: Sampson distances
void sampson(const Vec3<double> *rotation, const Vec3<double> *translation, const Vec2<double> *left, const Vec2<double> *right,
             double *distances, std::size_t n)
{
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const Vec3<double> a{left[i].x, left[i].y, 1.0}, b{right[i].x, right[i].y, 1.0};
        const Vec3<double> Ea = translation->cross(rotate(*rotation, a));
        const Vec3<double> back = *rotation * -1.0;
        const Vec3<double> Etb = rotate(back, b.cross(*translation));
        const double e = b.dot(Ea);
        distances[i] = e * e / (Ea.x * Ea.x + Ea.y * Ea.y + Etb.x * Etb.x + Etb.y * Etb.y);
    }
}

int main()
{
    std::vector<Camera<double>> cameras(2);
    std::vector<Vec3<double>> points;
    std::vector<Observation> observations;
    for (int c = 0; c < 2; ++c) cameras[c] = {{0, 0.1 * c, 0}, {0, 0, -5}, 500, 0, 0};
    for (int p = 0; p < 20; ++p) {
        points.push_back({0.1 * p - 1, 0.05 * p, 0.2});
        for (int c = 0; c < 2; ++c) observations.push_back({c, p, 10.0 * p, 5.0 * p});
    }
    std::cout << huber_cost(cameras.data(), points.data(), observations.data(), static_cast<int>(observations.size())) << '\n';
    return 0;
}
