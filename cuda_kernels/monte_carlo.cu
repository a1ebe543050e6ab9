// Payoff of an Asian option along a path of pseudo-random numbers made in the kernel.
__device__ unsigned int next_random(unsigned int &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ float uniform(unsigned int &state) { return (next_random(state) >> 8) * (1.0f / 16777216.0f) + 2e-8f; }

__device__ float gaussian(unsigned int &state) {
    float radius = sqrtf(-2.0f * logf(uniform(state)));
    return radius * cosf(6.2831853f * uniform(state));
}

__global__ void asian_payoff(const float *spot, const float *vol, float *payoff, unsigned int seed, int paths, int steps,
                             float strike) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    unsigned int state = seed ^ (p * 747796405u + 2891336453u);
    float dt = 1.0f / steps, s = *spot, average = 0.0f;
    for (int t = 0; t < steps; t++) {
        s *= expf(-0.5f * *vol * *vol * dt + *vol * sqrtf(dt) * gaussian(state));
        average += s / steps;
    }
    payoff[p] = average > strike ? average - strike : 0.0f;
}
