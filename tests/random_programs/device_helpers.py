"""Device functions and types that the phrases of `device_code` use, in the forms that CUDA programs have."""

from __future__ import annotations

FOR_CUDA = """
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class T> struct Wide;
template <> struct Wide<float> { using two = float2; using four = float4; };
template <> struct Wide<double> { using two = double2; using four = double2; };
HELPER float bits_abs(float v) { return __int_as_float(__float_as_int(v) & 0x7fffffff); }
HELPER double bits_abs(double v) { return __longlong_as_double(__double_as_longlong(v) & 0x7fffffffffffffffLL); }
HELPER float signed_as(float v, float s)
{
    return __uint_as_float((__float_as_uint(v) & 0x7fffffffu) | (__float_as_uint(s) & 0x80000000u));
}
HELPER double signed_as(double v, double s) { return copysign(v, s); }
"""

FOR_CPP = """
#include <algorithm>
#define __constant__ static const
template <class T> HELPER T rsqrt(T v) { return 1 / sqrt(v); }
HELPER void sincos(float v, float *s, float *c) { *s = sin(v); *c = cos(v); }
"""

HELPERS = """
__constant__ double weights[6] = {0.25, -0.5, 0.125, 0.75, -0.3, 0.6};
__constant__ int offsets[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
enum class Mode { linear, squared, bent };
template <class T> struct Quat {
    T w, x, y, z;
    HELPER Quat operator*(const Quat &o) const
    {
        return {w * o.w - x * o.x - y * o.y - z * o.z, w * o.x + x * o.w + y * o.z - z * o.y,
                w * o.y - x * o.z + y * o.w + z * o.x, w * o.z + x * o.y - y * o.x + z * o.w};
    }
};
template <class T> struct Point {
    T x, y, z;
    HELPER Point() : x(0), y(0), z(0) {}
    HELPER Point(T a, T b, T c) : x(a), y(b), z(c) {}
    HELPER explicit Point(T all) : Point(all, all, all) {}
    HELPER Point &operator+=(const Point &o) { x += o.x; y += o.y; z += o.z; return *this; }
    HELPER Point &operator*=(T s) { x *= s; y *= s; z *= s; return *this; }
    HELPER Point operator-() const { return Point(-x, -y, -z); }
    HELPER T dot(const Point &o) const { return x * o.x + y * o.y + z * o.z; }
    HELPER T length() const { return sqrt(dot(*this) + T(1e-3)); }
    HELPER T component(int k) const { return (&x)[k]; }
};
template <class T> HELPER Point<T> operator-(Point<T> a, const Point<T> &b) { return a += -b; }
template <class T> HELPER Point<T> operator*(T s, Point<T> a) { return a *= s; }
template <class T> HELPER Point<T> reflected(const Point<T> &d, const Point<T> &n) { return d - (T(2) * d.dot(n)) * n; }
template <class T, int N> struct Stack {
    T items[N];
    int size = 0;
    HELPER bool push(T v) { if (size == N) return false; items[size++] = v; return true; }
    HELPER T pop() { return size > 0 ? items[--size] : T(0); }
    HELPER T &top() { return items[size > 0 ? size - 1 : 0]; }
};
template <class T> struct Interval { union { T ends[2]; struct { T low, high; }; }; };
template <class T> HELPER T until(const T *a, int n, T limit)
{
    T s = 0;
    for (int k = 0; k < n; k++) {
        if (a[k] < T(-0.8)) return T(0.5) * s - a[k];
        s += a[k] * a[k];
        if (s > limit) return s - limit * a[k];
    }
    return s;
}
template <class T> HELPER bool crosses(T o, T d, T *t)
{
    T inside = o * o - d + T(0.5);
    if (inside < 0) return false;
    T q = sqrt(inside + T(0.01));
    if (o > q) { *t = o - q; return true; }
    if (o + q > T(0.2)) { *t = o + q; return true; }
    return false;
}
template <class T> HELPER T marched(T a, T b, int most)
{
    T t = 0;
    for (int k = 0; k < most; k++) {
        T d = fabs(a - t) - T(0.1) * fabs(b);
        if (d < T(0.02)) return t * b;
        t += T(0.6) * d;
        if (t > T(1.5)) break;
    }
    return T(-0.3) * t;
}
template <class T> HELPER int pair_above(const T *a, int n, T v)
{
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++) {
            if (a[p] * a[q] > v) return p * n + q;
            if (a[q] > T(0.95)) break;
        }
    return -1;
}
template <class T> HELPER T tree(const T *a, int l, int r)
{
    if (r - l <= 1) return l < r ? a[l] : T(0);
    int half = (l + r) / 2;
    T one = tree(a, l, half), other = tree(a, half, r);
    return one > other ? one + T(0.3) * other : other - T(0.2) * one * other;
}
template <class T> HELPER T *largest(T *a, int n)
{
    T *at = a;
    for (T *p = a + 1; p != a + n; ++p)
        if (*p > *at) at = p;
    return at;
}
template <class T, class F> HELPER T folded(const T *a, int n, T first, F f)
{
    for (int k = 0; k < n; ++k) first = f(first, a[k]);
    return first;
}
template <class T> HELPER T bent(T v, Mode mode)
{
    switch (mode) {
    case Mode::linear: return T(0.5) * v;
    case Mode::squared: return v * v;
    case Mode::bent: if (v < 0) return T(0.1) * v;
    }
    return tanh(v);
}
template <class T> HELPER void rotate_by(T angle, T &u, T &v)
{
    T si, co;
    sincos(angle, &si, &co);
    T kept = u;
    u = co * u - si * v;
    v = si * kept + co * v;
}
template <class T> HELPER T clamped_at(const T *p, int k, int n) { return p[k < 0 ? 0 : k >= n ? n - 1 : k]; }
HELPER int mirrored(int k, int n) { while (k < 0 || k >= n) k = k < 0 ? -k - 1 : 2 * n - k - 1; return k; }
"""
