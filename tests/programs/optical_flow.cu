// Horn-Schunck energy of a flow field between two frames: data term (Charbonnier) plus smoothness.
#include <iostream>
#include <vector>
#include <cuda_runtime.h>
#include <thrust/device_vector.h>

#define CUDA_SAFE(x) if ((x) != cudaSuccess) { std::cerr << "CUDA error at line " << __LINE__ << std::endl; return -1; }

template <typename Real>
__device__ Real charbonnier(Real x, Real eps) { return sqrt(x * x + eps * eps); }

template <typename Real>
__device__ Real bilinear(const Real *img, int w, int h, Real x, Real y)
{
    x = min(max(x, Real(0)), Real(w - 1) - Real(1e-3));
    y = min(max(y, Real(0)), Real(h - 1) - Real(1e-3));
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const Real a = x - x0, b = y - y0;
    const Real *p = img + y0 * w + x0;
    return (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[w] + a * p[w + 1]);
}

template <typename Real>
__global__ void flow_energy(const Real *first, const Real *second, const Real *u, const Real *v, Real *energy, int w,
                            int h, Real lambda)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const int i = y * w + x;
    const Real warped = bilinear(second, w, h, x + u[i], y + v[i]);
    Real e = charbonnier(warped - first[i], Real(1e-2));
    if (x + 1 < w) {
        const Real du = u[i + 1] - u[i], dv = v[i + 1] - v[i];
        e += lambda * (du * du + dv * dv);
    }
    if (y + 1 < h) {
        const Real du = u[i + w] - u[i], dv = v[i + w] - v[i];
        e += lambda * (du * du + dv * dv);
    }
    atomicAdd(energy, e);
}

int main()
{
    const int w = 64, h = 48;
    thrust::device_vector<float> first(w * h, 0.5f), second(w * h, 0.6f), u(w * h, 0.f), v(w * h, 0.f), e(1, 0.f);
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    flow_energy<float><<<grid, block>>>(thrust::raw_pointer_cast(first.data()), thrust::raw_pointer_cast(second.data()),
                                        thrust::raw_pointer_cast(u.data()), thrust::raw_pointer_cast(v.data()),
                                        thrust::raw_pointer_cast(e.data()), w, h, 0.1f);
    CUDA_SAFE(cudaDeviceSynchronize());
    float total = e[0];
    std::cout << "energy " << total << std::endl;
    return 0;
}
