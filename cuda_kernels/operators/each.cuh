// What a thread does for several elements: PER of them at a time, as far apart as there are threads side by side, so that the loads of all
// are under way together while neighbouring threads read neighbouring elements.
#pragma once

constexpr int PER = 4;

// The elements of whole arrays, PER for a thread: `of` what stands in `a` and `b` goes into `out`.
template <typename T, typename Of>
__device__ void each(int n, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ out, Of of)
{
    int width = blockDim.x, first = PER * blockIdx.x * width, self = first + threadIdx.x;
    if (PER * width <= n - first) { // the whole block has elements
        T x[PER], y[PER];
#pragma unroll
        for (int i = 0; i < PER; i++) {
            x[i] = a[self + i * width];
            y[i] = b[self + i * width];
        }
#pragma unroll
        for (int i = 0; i < PER; i++)
            out[self + i * width] = of(x[i], y[i]);
    } else {
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (i * width < n - self)
                out[self + i * width] = of(a[self + i * width], b[self + i * width]);
    }
}

template <typename T, typename Of>
__device__ void each(int n, const T *__restrict__ a, T *__restrict__ out, Of of)
{
    each(n, a, a, out, [=](T x, T) { return of(x); });
}

// From `first` on every `step`-th up to the end, so many AT_ONCE.
template <int AT_ONCE = PER, typename Element>
__device__ void strided(int first, int step, int end, Element element)
{
    int at = first;
    for (; at < end - (AT_ONCE - 1) * step; at += AT_ONCE * step) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            element(at + i * step);
    }
    for (; at < end; at += step)
        element(at);
}
