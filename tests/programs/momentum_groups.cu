// One step of gradient descent with momentum for several groups of weights at once, as optimisers launch it: addresses and sizes in one struct.
constexpr int most_groups = 3;

struct Groups {
    float *weights[most_groups];
    const float *slopes[most_groups];
    float *speeds[most_groups];
    int sizes[most_groups];
    int count;
};

struct Rule {
    float rate, friction, decay;
    bool looks_ahead;
};

__global__ void descend(Groups groups, Rule rule) {
    for (int group = 0; group < groups.count; ++group) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups.sizes[group]; i += gridDim.x * blockDim.x) {
            float weight = groups.weights[group][i];
            float slope = tanhf(groups.slopes[group][i]) + rule.decay * weight * weight;
            float speed = groups.speeds[group][i] = rule.friction * groups.speeds[group][i] + slope * slope;
            if (rule.looks_ahead) slope += rule.friction * speed * weight;
            groups.weights[group][i] = weight - rule.rate * slope;
        }
    }
}
