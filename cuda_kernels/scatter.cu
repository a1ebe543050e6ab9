// Finite-element assembly: element contributions are added to the nodes they touch.
__global__ void assemble(const float *contribution, const float *stiffness, const int *node, float *load, int elements) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    for (int corner = 0; corner < 3; ++corner) {
        float c = contribution[3 * e + corner];
        atomicAdd(&load[node[3 * e + corner]], stiffness[e] * c * c);
    }
}
