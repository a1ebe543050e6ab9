// Rigid bodies: unit quaternions, inertia tensors in body frame, symplectic Euler. State as a struct of arrays.
#include <cstdio>
#include <cuda_runtime.h>

struct Vec3 {
    double x, y, z;
    __host__ __device__ Vec3 operator+(Vec3 o) const { return {x + o.x, y + o.y, z + o.z}; }
    __host__ __device__ Vec3 operator-(Vec3 o) const { return {x - o.x, y - o.y, z - o.z}; }
    __host__ __device__ Vec3 operator*(double s) const { return {x * s, y * s, z * s}; }
    __host__ __device__ Vec3 cross(Vec3 o) const { return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x}; }
};

struct Quat {
    double w, x, y, z;

    __host__ __device__ Quat operator*(const Quat &q) const
    {
        return {w * q.w - x * q.x - y * q.y - z * q.z, w * q.x + x * q.w + y * q.z - z * q.y,
                w * q.y - x * q.z + y * q.w + z * q.x, w * q.z + x * q.y - y * q.x + z * q.w};
    }
    __host__ __device__ Quat conjugate() const { return {w, -x, -y, -z}; }
    __host__ __device__ Vec3 rotate(Vec3 v) const
    {
        const Quat p = *this * Quat{0.f, v.x, v.y, v.z} * conjugate();
        return {p.x, p.y, p.z};
    }
    __host__ __device__ void normalize()
    {
        const double s = 1.f / sqrt(w * w + x * x + y * y + z * z);
        w *= s; x *= s; y *= s; z *= s;
    }
};

struct Mat3 {
    double m[3][3];
    __host__ __device__ Vec3 operator*(Vec3 v) const
    {
        double r[3];
        for (int i = 0; i < 3; ++i)
            r[i] = m[i][0] * v.x + m[i][1] * v.y + m[i][2] * v.z;
        return {r[0], r[1], r[2]};
    }
};

struct Bodies {
    Vec3 *position;
    Vec3 *velocity;
    Quat *orientation;
    Vec3 *spin;         // body frame
    const Mat3 *inverse_inertia;
    int count;
};

__global__ void step(Bodies b, const Vec3 *force, const Vec3 *arm, const double *mass, double dt)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < b.count) {
        Quat q = b.orientation[i];
        const Vec3 v = b.velocity[i] + force[i] * (dt / mass[i]);
        const Vec3 torque = arm[i].cross(q.conjugate().rotate(force[i]));
        const Vec3 w = b.spin[i] + (b.inverse_inertia[i] * torque) * dt;
        const Quat dq = q * Quat{0.f, w.x, w.y, w.z};
        q.w += 0.5 * dt * dq.w;
        q.x += 0.5 * dt * dq.x;
        q.y += 0.5 * dt * dq.y;
        q.z += 0.5 * dt * dq.z;
        q.normalize();
        b.velocity[i] = v;
        b.spin[i] = w;
        b.orientation[i] = q;
        b.position[i] = b.position[i] + v * dt;
    }
}

__global__ void to_world(const Quat *q, const Vec3 *origin, const Vec3 *local, Vec3 *world, int bodies, int points)
{
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    const int body = blockIdx.y;
    if (p >= points || body >= bodies)
        return;
    world[body * points + p] = origin[body] + q[body].rotate(local[p]);
}

int main()
{
    const int n = 64;
    Bodies b;
    b.count = n;
    Vec3 *force, *arm;
    double *mass;
    Mat3 *inertia;
    cudaMallocManaged(&b.position, n * sizeof(Vec3));
    cudaMallocManaged(&b.velocity, n * sizeof(Vec3));
    cudaMallocManaged(&b.orientation, n * sizeof(Quat));
    cudaMallocManaged(&b.spin, n * sizeof(Vec3));
    cudaMallocManaged(&inertia, n * sizeof(Mat3));
    cudaMallocManaged(&force, n * sizeof(Vec3));
    cudaMallocManaged(&arm, n * sizeof(Vec3));
    cudaMallocManaged(&mass, n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        b.position[i] = b.velocity[i] = b.spin[i] = Vec3{0.f, 0.f, 0.f};
        b.orientation[i] = Quat{1.f, 0.f, 0.f, 0.f};
        inertia[i] = Mat3{{{1.f, 0.f, 0.f}, {0.f, 1.f, 0.f}, {0.f, 0.f, 1.f}}};
        force[i] = Vec3{0.f, -9.81, 0.f};
        arm[i] = Vec3{0.1, 0.f, 0.f};
        mass[i] = 1.f + 0.1 * i;
    }
    b.inverse_inertia = inertia;
    for (int t = 0; t < 100; ++t)
        step<<<2, 32>>>(b, force, arm, mass, 0.01);
    cudaDeviceSynchronize();
    printf("%f\n", b.position[0].y);
}
