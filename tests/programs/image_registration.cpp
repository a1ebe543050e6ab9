// Rigid registration of two images: bilinear sampling in float, sum of squares in double, OpenMP over rows.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

template <typename T>
struct Image {
    const T *pixels;
    int width, height;
    T at(int x, int y) const
    {
        x = std::clamp(x, 0, width - 1);
        y = std::clamp(y, 0, height - 1);
        return pixels[y * width + x];
    }
    T sample(T x, T y) const
    {
        const int x0 = int(std::floor(x)), y0 = int(std::floor(y));
        const T a = x - x0, b = y - y0;
        return (1 - b) * ((1 - a) * at(x0, y0) + a * at(x0 + 1, y0)) + b * ((1 - a) * at(x0, y0 + 1) + a * at(x0 + 1, y0 + 1));
    }
};

double mismatch(const float *fixed, const float *moving, const float *pose, int width, int height)
{
    const Image<float> f{fixed, width, height}, m{moving, width, height};
    const float c = std::cos(pose[0]), s = std::sin(pose[0]);
    double total = 0.0;
#pragma omp parallel for reduction(+ : total)
    for (int y = 0; y < height; ++y) {
        double row = 0.0;
        for (int x = 0; x < width; ++x) {
            const float d = m.sample(c * x - s * y + pose[1], s * x + c * y + pose[2]) - f.at(x, y);
            row += d * d;
        }
        total += row;
    }
    return total / (width * height);
}

int main()
{
    std::vector<float> a(64 * 48), b(64 * 48);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = std::sin(0.1f * i), b[i] = std::cos(0.1f * i);
    const float pose[3] = {0.01f, 0.5f, -0.5f};
    std::printf("%f\n", mismatch(a.data(), b.data(), pose, 64, 48));
}
