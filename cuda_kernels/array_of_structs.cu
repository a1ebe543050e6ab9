// An array of structs that mix floats and an integer, updated in place.
struct Neuron {
    float potential;
    float recovery;
    int type;
    float current;
};

__global__ void fitzhugh(Neuron *cells, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Neuron cell = cells[i];
    float tau = cell.type == 0 ? 12.5f : 8.0f;
    float dv = cell.potential - cell.potential * cell.potential * cell.potential / 3.0f - cell.recovery + cell.current;
    float dw = (cell.potential + 0.7f - 0.8f * cell.recovery) / tau;
    cell.potential += dt * dv;
    cell.recovery += dt * dw;
    cells[i] = cell;
}
