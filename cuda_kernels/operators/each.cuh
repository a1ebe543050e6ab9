// What a thread does for several elements: PER of them at a time, as far apart as there are threads side by side, so that the loads of all
// are under way together while neighbouring threads read neighbouring elements.
#pragma once

constexpr int PER = 4;

// The elements of a whole array, PER for a thread.
template <typename Element>
__device__ void each(int n, Element element)
{
    int width = blockDim.x, first = PER * blockIdx.x * width, self = first + threadIdx.x;
    if (PER * width <= n - first) { // the whole block has elements
#pragma unroll
        for (int i = 0; i < PER; i++)
            element(self + i * width);
    } else {
#pragma unroll
        for (int i = 0; i < PER; i++)
            if (i * width < n - self)
                element(self + i * width);
    }
}

// From `first` on every `step`-th up to the end.
template <typename Element>
__device__ void strided(int first, int step, int end, Element element)
{
    int at = first;
    for (; at < end - (PER - 1) * step; at += PER * step) {
#pragma unroll
        for (int i = 0; i < PER; i++)
            element(at + i * step);
    }
    for (; at < end; at += step)
        element(at);
}
