// Host code of all kinds around one kernel: adgen only parses it.
#include "element.h"
#include <algorithm>
#include <chrono>
#include <cooperative_groups.h>
#include <cstdio>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <fstream>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

#define CHECK(call) \
    do { \
        cudaError_t status = (call); \
        if (status != cudaSuccess) { \
            std::cerr << __FILE__ << ":" << __LINE__ << " " << cudaGetErrorString(status) << std::endl; \
            std::exit(EXIT_FAILURE); \
        } \
    } while (0)

__global__ void beside_host_code(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * sinf(x[i]);
}

__global__ void with_helper_math(const float3 *x, const float3 *w, float *y, int n)
{
    MY_ELEMENT(n);
    const float3 v = normalize(cross(x[i], w[i]) + 0.5f * x[i]) - make_float3(1.0f);
    y[i] = dot(v, w[i]) / length(x[i]) + lerp(x[i], w[i], 0.25f).y + clamp(-v, -10.0f, 10.0f).z;
}

struct Squared : thrust::unary_function<float, float> {  // which Thrust has no more
    __host__ __device__ float operator()(float v) const { return v * v; }
};

static void with_thrust(int n)
{
    thrust::host_vector<float> host(n, 1.0f);
    thrust::device_vector<float> x = host, y(n);
    thrust::sequence(thrust::device, x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), y.begin(), Squared());
    thrust::sort(y.begin(), y.end(), thrust::greater<float>());
    beside_host_code<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(x.data()), thrust::raw_pointer_cast(y.data()), n);
    std::cout << thrust::reduce(y.begin(), y.end(), 0.0f, thrust::plus<float>()) << "\n";
}

static void with_streams_and_events(int n)
{
    cudaStream_t stream;
    cudaEvent_t start, stop;
    float *x, *y, milliseconds = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMallocAsync(&x, n * sizeof(float), stream));
    CHECK(cudaMallocAsync(&y, n * sizeof(float), stream));
    CHECK(cudaEventRecord(start, stream));
    beside_host_code<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaFreeAsync(x, stream));
    std::printf("%f ms\n", milliseconds);
}

static void with_managed_memory(int n)
{
    float *x, *y, *pinned;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    CHECK(cudaMallocManaged(&y, n * sizeof(float)));
    CHECK(cudaMallocHost(&pinned, n * sizeof(float)));
    std::mt19937 engine(42);
    std::generate(x, x + n, [&] { return std::uniform_real_distribution<float>(0, 1)(engine); });
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    void *arguments[] = {&x, &y, &n};
    CHECK(cudaLaunchKernel((const void *)beside_host_code, dim3(n / 256 + 1), dim3(256), arguments, 0, 0));
    CHECK(cudaMemcpy(pinned, y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
}

static void with_cub(const float *x, float *sum, int n)
{
    void *scratch = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(scratch, bytes, x, sum, n);
    CHECK(cudaMalloc(&scratch, bytes));
    cub::DeviceReduce::Sum(scratch, bytes, x, sum, n);
}

static void with_graphs(cudaStream_t stream, float *x, float *y, int n)
{
    cudaGraph_t graph;
    cudaGraphExec_t made;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    beside_host_code<<<1, 256, 0, stream>>>(x, y, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    CHECK(cudaGraphLaunch(made, stream));
}

static void with_helpers(int argc, char **argv, float *x, float *y, int n)
{
    StopWatchInterface *timer = nullptr;
    cublasHandle_t handle;
    const float one = 1.0f;
    checkCudaErrors(cudaSetDevice(findCudaDevice(argc, (const char **)argv)));
    if (checkCmdLineFlag(argc, (const char **)argv, "n")) n = getCmdLineArgumentInt(argc, (const char **)argv, "n");
    sdkCreateTimer(&timer);
    sdkStartTimer(&timer);
    checkCudaErrors(cublasCreate(&handle));
    checkCudaErrors(cublasSaxpy(handle, n, &one, x, 1, y, 1));
    checkCudaErrors(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, x, n, x, n, &one, y, n));
    getLastCudaError("cuBLAS failed");
    sdkStopTimer(&timer);
    std::printf("%f ms\n", sdkGetTimerValue(&timer));
}

int main(int argc, char **argv)
try {
    const int n = argc > 1 ? std::stoi(argv[1]) : 1 << 20;
    const auto begin = std::chrono::steady_clock::now();
    std::map<std::string, std::vector<float>> results;
    std::unique_ptr<float[]> buffer(new float[n]);
    with_thrust(n);
    with_streams_and_events(n);
    with_managed_memory(n);
    with_cub(nullptr, nullptr, n);
    with_helpers(argc, argv, nullptr, nullptr, n);
    with_graphs(0, nullptr, nullptr, n);
#pragma omp parallel for
    for (int k = 0; k < n; ++k) buffer[k] = std::sqrt(float(k));
    std::thread([] { std::puts("done"); }).join();
    std::ofstream("out.txt") << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return 0;
} catch (const std::exception &problem) {
    std::cerr << problem.what() << "\n";
    return 1;
}
