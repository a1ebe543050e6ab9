// A scalar at the end of a computation, and a step of one.
double misfit(const double *u, const double *target, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (u[i] - target[i]) * (u[i] - target[i]);
    return sum;
}

void relax(double *u, const double &rate, int n) {
    for (int i = 1; i < n; ++i) u[i] += rate * u[i - 1] * u[i];
}
