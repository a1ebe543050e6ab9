// Model predictive control of quadrotors by sampling: each thread rolls out one control sequence (quaternion attitude,
// motor lag, drag, wind), accumulates a cost with obstacles, weights by a soft minimum; batches in SoA.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>

struct Quaternion {
    float w, x, y, z;

    __device__ Quaternion operator*(const Quaternion &b) const
    {
        return {w * b.w - x * b.x - y * b.y - z * b.z, w * b.x + x * b.w + y * b.z - z * b.y,
                w * b.y - x * b.z + y * b.w + z * b.x, w * b.z + x * b.y - y * b.x + z * b.w};
    }
    __device__ Quaternion &normalise()
    {
        const float s = rsqrtf(w * w + x * x + y * y + z * z);
        w *= s; x *= s; y *= s; z *= s;
        return *this;
    }
    __device__ float3 rotate(float3 v) const
    {
        const float tx = 2.f * (y * v.z - z * v.y), ty = 2.f * (z * v.x - x * v.z), tz = 2.f * (x * v.y - y * v.x);
        return {v.x + w * tx + y * tz - z * ty, v.y + w * ty + z * tx - x * tz, v.z + w * tz + x * ty - y * tx};
    }
};

struct Vehicle {
    float mass, arm;
    float3 inertia;
    float thrust, torque;     // per squared motor speed
    float drag, lag;
};

struct State {
    float3 position, velocity, rate;
    Quaternion attitude;
    float motor[4];
};

struct Obstacle {
    float3 centre;
    float radius;
};

__device__ void advance(State &s, const float (&command)[4], const Vehicle &v, const float3 wind, float dt)
{
    float force = 0.f, lift[4];
    for (int m = 0; m < 4; ++m) {
        s.motor[m] += dt / v.lag * (command[m] - s.motor[m]);
        lift[m] = v.thrust * s.motor[m] * s.motor[m];
        force += lift[m];
    }
    const float spin = v.torque * (s.motor[0] * s.motor[0] - s.motor[1] * s.motor[1] + s.motor[2] * s.motor[2] - s.motor[3] * s.motor[3]);
    const float3 moment = {v.arm * (lift[1] - lift[3]), v.arm * (lift[2] - lift[0]), spin};
    const float3 push = s.attitude.rotate({0.f, 0.f, force});
    const float3 relative = {s.velocity.x - wind.x, s.velocity.y - wind.y, s.velocity.z - wind.z};
    const float air = v.drag * norm3df(relative.x, relative.y, relative.z + 1e-3f);
    s.velocity.x += dt * (push.x - air * relative.x) / v.mass;
    s.velocity.y += dt * (push.y - air * relative.y) / v.mass;
    s.velocity.z += dt * ((push.z - air * relative.z) / v.mass - 9.81f);
    s.position.x += dt * s.velocity.x;
    s.position.y += dt * s.velocity.y;
    s.position.z += dt * s.velocity.z;
    const float3 w = s.rate, I = v.inertia;
    s.rate.x += dt * (moment.x - (I.z - I.y) * w.y * w.z) / I.x;
    s.rate.y += dt * (moment.y - (I.x - I.z) * w.z * w.x) / I.y;
    s.rate.z += dt * (moment.z - (I.y - I.x) * w.x * w.y) / I.z;
    const Quaternion turn = {1.f, 0.5f * dt * s.rate.x, 0.5f * dt * s.rate.y, 0.5f * dt * s.rate.z};
    s.attitude = (s.attitude * turn).normalise();
}

__device__ float stage_cost(const State &s, const float3 goal, const Obstacle *obstacles, int n)
{
    const float dx = s.position.x - goal.x, dy = s.position.y - goal.y, dz = s.position.z - goal.z;
    float cost = dx * dx + dy * dy + dz * dz + 0.1f * (s.rate.x * s.rate.x + s.rate.y * s.rate.y + s.rate.z * s.rate.z);
    for (int o = 0; o < n; ++o) {
        const float ox = s.position.x - obstacles[o].centre.x, oy = s.position.y - obstacles[o].centre.y, oz = s.position.z - obstacles[o].centre.z;
        const float gap = sqrtf(ox * ox + oy * oy + oz * oz) - obstacles[o].radius;
        cost += 0.5f * log1pf(expf(-4.f * gap));
    }
    return cost;
}

// controls: [step, motor, rollout]
__global__ void rollout(const State *start, const float *controls, const float *noise, const Vehicle *vehicle, const Obstacle *obstacles,
                        float *costs, State *last, float3 goal, float3 wind, int n_obstacles, int n_rollouts, int horizon, float dt)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n_rollouts) return;
    const Vehicle v = *vehicle;
    State s = *start;
    float total = 0.f;
    for (int t = 0; t < horizon; ++t) {
        float command[4];
        for (int m = 0; m < 4; ++m) {
            const size_t at = (size_t)(t * 4 + m) * n_rollouts + r;
            command[m] = fminf(fmaxf(controls[t * 4 + m] + noise[at], 0.f), 20.f);
        }
        advance(s, command, v, wind, dt);
        total += dt * stage_cost(s, goal, obstacles, n_obstacles);
        if (s.position.z < -5.f) {       // crashed
            total += 100.f;
            break;
        }
    }
    costs[r] = total;
    last[r] = s;
}

// soft minimum of all costs in one block
__global__ void soft_minimum(const float *costs, float *weights, float *value, float temperature, int n)
{
    __shared__ float s[256];
    float low = CUDART_INF_F;
    for (int i = threadIdx.x; i < n; i += blockDim.x) low = fminf(low, costs[i]);
    s[threadIdx.x] = low;
    __syncthreads();
    for (int h = blockDim.x / 2; h; h >>= 1) {
        if (threadIdx.x < h) s[threadIdx.x] = fminf(s[threadIdx.x], s[threadIdx.x + h]);
        __syncthreads();
    }
    low = s[0];
    __syncthreads();
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf((low - costs[i]) / temperature);
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int h = blockDim.x / 2; h; h >>= 1) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) weights[i] = expf((low - costs[i]) / temperature) / s[0];
    if (threadIdx.x == 0) *value = low - temperature * logf(s[0] / n);
}

int main()
try {
    const int rollouts = 512, horizon = 20;
    State *start, *last;
    Vehicle *vehicle;
    Obstacle *obstacles;
    float *controls, *noise, *costs, *weights, *value;
    if (cudaMallocManaged(&start, sizeof(State)) != cudaSuccess) throw std::runtime_error("no memory");
    cudaMallocManaged(&last, rollouts * sizeof(State));
    cudaMallocManaged(&vehicle, sizeof(Vehicle));
    cudaMallocManaged(&obstacles, sizeof(Obstacle));
    cudaMallocManaged(&controls, 4 * horizon * sizeof(float));
    cudaMallocManaged(&noise, 4 * horizon * rollouts * sizeof(float));
    cudaMallocManaged(&costs, rollouts * sizeof(float));
    cudaMallocManaged(&weights, rollouts * sizeof(float));
    cudaMallocManaged(&value, sizeof(float));
    *start = {{0, 0, 1}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0}, {8, 8, 8, 8}};
    *vehicle = {1.f, 0.2f, {0.01f, 0.01f, 0.02f}, 0.038f, 0.001f, 0.1f, 0.05f};
    *obstacles = {{1, 0, 1}, 0.3f};
    std::mt19937 gen(1);
    std::normal_distribution<float> normal;
    std::generate(noise, noise + 4 * horizon * rollouts, [&] { return 0.5f * normal(gen); });
    std::fill(controls, controls + 4 * horizon, 8.f);
    rollout<<<rollouts / 64, 64>>>(start, controls, noise, vehicle, obstacles, costs, last, {2, 0, 1}, {0.5f, 0, 0}, 1, rollouts, horizon, 0.02f);
    soft_minimum<<<1, 256>>>(costs, weights, value, 0.5f, rollouts);
    cudaDeviceSynchronize();
    std::printf("%f\n", *value);
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
