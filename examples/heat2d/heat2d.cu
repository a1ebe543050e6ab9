// Heat in a square plate whose conductivity grows with its temperature: du/dt = div((1 + beta u) grad u),
// explicit in time, edges kept at their value.
#include <cstdio>
#include <utility>
#include <vector>

// Flux between two neighbours, with the conductivity at the temperature between them.
__device__ double flux(double from, double to, double beta) {
    return (1.0 + beta * 0.5 * (from + to)) * (to - from);
}

// One time step; r = dt / dx^2.
__global__ void step(const double *u, double *next, int nx, int ny, double r, double beta) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    int i = y * nx + x;
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
        next[i] = u[i];
        return;
    }
    double in = flux(u[i], u[i - 1], beta) + flux(u[i], u[i + 1], beta) +
                flux(u[i], u[i - nx], beta) + flux(u[i], u[i + nx], beta);
    next[i] = u[i] + r * in;
}

int main() {
    const int nx = 256, ny = 256, steps = 1000;
    std::vector<double> plate(nx * ny, 0.0);
    for (int y = ny / 4; y < ny / 2; y++)
        for (int x = nx / 4; x < nx / 2; x++) plate[y * nx + x] = 1.0;

    size_t bytes = plate.size() * sizeof(double);
    double *u, *next;
    cudaMalloc(&u, bytes);
    cudaMalloc(&next, bytes);
    cudaMemcpy(u, plate.data(), bytes, cudaMemcpyHostToDevice);

    dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
    for (int t = 0; t < steps; t++) {
        step<<<grid, block>>>(u, next, nx, ny, 0.15, 0.5);
        std::swap(u, next);
    }
    cudaMemcpy(plate.data(), u, bytes, cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) return 1;

    double total = 0;
    for (double t : plate) total += t;
    std::printf("after %d steps: heat %.3f, hottest corner of the source %.4f\n", steps, total,
                plate[ny / 4 * nx + nx / 4]);
    cudaFree(u);
    cudaFree(next);
}
