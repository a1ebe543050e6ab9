// Orbits among fixed masses: Hamilton's equations by the author's own dual numbers, and an adaptive step of Bogacki and Shampine whose
// coefficients are static members of a template. Arrays come as spans.
#include <cuda/std/span>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/utility>
#include <cuda_runtime.h>

template <typename T, int N> struct Dual {
    T v{};
    T d[N]{};
    __host__ __device__ constexpr Dual() = default;
    __host__ __device__ constexpr Dual(T value) : v(value) {}
    __device__ static Dual variable(T value, int which) { Dual r(value); r.d[which] = T(1); return r; }
    __device__ friend Dual operator+(const Dual &a, const Dual &b) {
        Dual r(a.v + b.v);
        for (int i = 0; i < N; ++i) r.d[i] = a.d[i] + b.d[i];
        return r;
    }
    __device__ friend Dual operator-(const Dual &a, const Dual &b) {
        Dual r(a.v - b.v);
        for (int i = 0; i < N; ++i) r.d[i] = a.d[i] - b.d[i];
        return r;
    }
    __device__ friend Dual operator*(const Dual &a, const Dual &b) {
        Dual r(a.v * b.v);
        for (int i = 0; i < N; ++i) r.d[i] = a.d[i] * b.v + a.v * b.d[i];
        return r;
    }
    __device__ friend Dual operator/(const Dual &a, const Dual &b) {
        Dual r(a.v / b.v);
        for (int i = 0; i < N; ++i) r.d[i] = (a.d[i] - r.v * b.d[i]) / b.v;
        return r;
    }
};
template <typename T, int N> __device__ Dual<T, N> sqrt(const Dual<T, N> &a) {
    Dual<T, N> r(::sqrt(a.v));
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] / (T(2) * r.v);
    return r;
}
template <typename T, int N> __device__ Dual<T, N> sin(const Dual<T, N> &a) {
    Dual<T, N> r(::sin(a.v));
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] * ::cos(a.v);
    return r;
}

// Hamilton's equations of any Hamiltonian by forward dual numbers: q' = dH/dp, p' = -dH/dq
template <typename T, int N, typename H>
__device__ cuda::std::array<T, N> hamiltonian_flow(const H &h, const cuda::std::array<T, N> &y)
{
    cuda::std::array<Dual<T, N>, N> seeded;
    for (int i = 0; i < N; ++i) seeded[i] = Dual<T, N>::variable(y[i], i);
    const auto e = h(seeded);
    cuda::std::array<T, N> dy;
    for (int i = 0; i < N / 2; ++i) {
        dy[i] = e.d[N / 2 + i];
        dy[N / 2 + i] = -e.d[i];
    }
    return dy;
}

template <typename T> struct Bogacki {
    static constexpr T a21 = T(0.5), a32 = T(0.75), b1 = T(2) / 9, b2 = T(1) / 3, b3 = T(4) / 9;
    static constexpr T e[4] = {T(2) / 9 - T(7) / 24, T(1) / 3 - T(1) / 4, T(4) / 9 - T(1) / 3, -T(1) / 8};
};

template <typename T, int N, typename F>
__device__ cuda::std::pair<cuda::std::array<T, N>, T> step(F &&f, const cuda::std::array<T, N> &y, T h)
{
    using B = Bogacki<T>;
    auto axpy = [&](cuda::std::array<T, N> base, auto... terms) {
        auto add = [&](const auto &term) { for (int i = 0; i < N; ++i) base[i] += h * term.first * term.second[i]; };
        (add(terms), ...);
        return base;
    };
    using P = cuda::std::pair<T, cuda::std::array<T, N>>;
    const auto k1 = f(y);
    const auto k2 = f(axpy(y, P{B::a21, k1}));
    const auto k3 = f(axpy(y, P{B::a32, k2}));
    const auto next = axpy(y, P{B::b1, k1}, P{B::b2, k2}, P{B::b3, k3});
    const auto k4 = f(next);
    T err = 0;
    for (int i = 0; i < N; ++i) {
        const T e = h * (B::e[0] * k1[i] + B::e[1] * k2[i] + B::e[2] * k3[i] + B::e[3] * k4[i]);
        err += e * e;
    }
    return {next, ::sqrt(err / N)};
}

template <typename T>
__global__ void orbits(cuda::std::span<const T> start, cuda::std::span<T> end, cuda::std::span<const T> masses, T t_end, T tol, int *accepted)
{
    constexpr int N = 4;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * N >= start.size()) return;
    cuda::std::array<T, N> y;
    for (int c = 0; c < N; ++c) y[c] = start.subspan(i * N, N)[c];
    auto energy = [masses](const cuda::std::array<Dual<T, N>, N> &s) {
        Dual<T, N> e = (s[2] * s[2] + s[3] * s[3]) / Dual<T, N>(T(2));
        int k = 0;
        for (const T m : masses) {
            const auto dx = s[0] - Dual<T, N>(T(k)), dy = s[1] + Dual<T, N>(T(0.5) * k);
            e = e - Dual<T, N>(m) / sqrt(dx * dx + dy * dy + Dual<T, N>(T(0.3)));
            ++k;
        }
        return e + Dual<T, N>(T(0.05)) * sin(s[0] * s[1]);
    };
    auto f = [&](const cuda::std::array<T, N> &s) { return hamiltonian_flow<T, N>(energy, s); };
    T t = 0, h = T(0.05);
    int count = 0;
    while (t < t_end) {
        h = h < t_end - t ? h : t_end - t;
        auto [next, err] = step<T, N>(f, y, h);
        if (err <= tol) {
            t += h;
            y = next;
            ++count;
        }
        const T factor = err > T(0) ? T(0.9) * cbrt(tol / err) : T(4);
        h *= factor < T(0.3) ? T(0.3) : factor > T(4) ? T(4) : factor;
        if (count > 500) break;
    }
    accepted[i] = count;
    for (int c = 0; c < N; ++c) end[i * N + c] = y[c];
}
template __global__ void orbits<double>(cuda::std::span<const double>, cuda::std::span<double>, cuda::std::span<const double>, double, double, int *);
