// Inclusive scan of each block by doubling steps, two barriers a step.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void scan(const double *x, double *prefix, int n) {
    __shared__ double values[64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = i < n ? sin(x[i]) : 0.0;
    block.sync();
    for (int reach = 1; reach < blockDim.x; reach *= 2) {
        double other = t >= reach ? values[t - reach] : 0.0;
        __syncthreads();
        values[t] += other;
        __syncthreads();
    }
    if (i < n) prefix[i] = values[t];
}
