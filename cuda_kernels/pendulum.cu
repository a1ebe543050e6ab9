// A driven pendulum by Runge-Kutta steps, states passed by reference between device functions.
struct State {
    double angle, speed;
};

__device__ State slope(const State &s, double damping, double drive) {
    return {s.speed, -sin(s.angle) - damping * s.speed + drive};
}

__device__ State advanced(const State &s, const State &k, double h) {
    return {s.angle + h * k.angle, s.speed + h * k.speed};
}

__global__ void pendulum(const double *angle, const double *speed, const double *damping, double *final_angle, int n,
                         int steps, double h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    State s{angle[i], speed[i]};
    for (int step = 0; step < steps; ++step) {
        double drive = 0.3 * cos(0.7 * step * h);
        State k1 = slope(s, damping[i], drive);
        State k2 = slope(advanced(s, k1, 0.5 * h), damping[i], drive);
        State k3 = slope(advanced(s, k2, 0.5 * h), damping[i], drive);
        State k4 = slope(advanced(s, k3, h), damping[i], drive);
        s.angle += h / 6.0 * (k1.angle + 2.0 * k2.angle + 2.0 * k3.angle + k4.angle);
        s.speed += h / 6.0 * (k1.speed + 2.0 * k2.speed + 2.0 * k3.speed + k4.speed);
    }
    final_angle[i] = s.angle;
}
