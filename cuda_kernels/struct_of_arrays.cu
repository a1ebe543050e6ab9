// Particle arrays behind one struct of pointers, passed by value.
struct Particles {
    const double *x;
    const double *v;
    double *energy;
    int count;
};

__global__ void hamiltonian(Particles p, double omega) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.count) return;
    p.energy[i] = 0.5 * p.v[i] * p.v[i] + 0.5 * omega * omega * p.x[i] * p.x[i] + 0.1 * p.x[i] * p.x[i] * p.x[i];
}
