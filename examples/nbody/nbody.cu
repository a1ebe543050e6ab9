// Gravitational energy of a cluster of bodies, each one's share written on its own.
#include <cstdio>
#include <cstdlib>
#include <vector>

// Half of the softened potential between body i and every other, so that the sum over i is the energy.
// `position` holds x, y, z of each body; G = 1.
__global__ void energy(const double *position, const double *mass, double *share, int bodies, double softening) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bodies) return;
    double x = position[3 * i], y = position[3 * i + 1], z = position[3 * i + 2];
    double sum = 0.0;
    for (int j = 0; j < bodies; j++) {
        if (j == i) continue;
        double dx = position[3 * j] - x, dy = position[3 * j + 1] - y, dz = position[3 * j + 2] - z;
        sum += mass[j] / sqrt(dx * dx + dy * dy + dz * dz + softening * softening);
    }
    share[i] = -0.5 * mass[i] * sum;
}

int main() {
    const int bodies = 4096;
    std::vector<double> position(3 * bodies), mass(bodies, 1.0 / bodies), share(bodies);
    std::srand(1);
    for (double &p : position) p = 2.0 * std::rand() / RAND_MAX - 1.0;

    double *d_position, *d_mass, *d_share;
    cudaMalloc(&d_position, position.size() * sizeof(double));
    cudaMalloc(&d_mass, bodies * sizeof(double));
    cudaMalloc(&d_share, bodies * sizeof(double));
    cudaMemcpy(d_position, position.data(), position.size() * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(d_mass, mass.data(), bodies * sizeof(double), cudaMemcpyHostToDevice);

    energy<<<(bodies + 127) / 128, 128>>>(d_position, d_mass, d_share, bodies, 0.05);
    cudaMemcpy(share.data(), d_share, bodies * sizeof(double), cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) return 1;

    double total = 0;
    for (double e : share) total += e;
    std::printf("potential energy of %d bodies: %.6f\n", bodies, total);
    cudaFree(d_position);
    cudaFree(d_mass);
    cudaFree(d_share);
}
