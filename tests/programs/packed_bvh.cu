// Smooth coverage and the nearest hit through a bounding volume hierarchy of packed nodes, with an explicit stack.
#include <cuda_runtime.h>
#include <cfloat>

struct Ray { float3 o, d; };
struct Triangle { float3 a, b, c; float3 albedo; };

// lo.w and hi.w hold the children as bits: a leaf is ~first and count, an inner node left and right.
struct PackedNode { float4 lo, hi; };

__device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ inline float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
__device__ inline float3 &operator+=(float3 &a, float3 b) { return a = a + b; }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 cross(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }

struct Hit { float t = FLT_MAX; float3 colour = {0, 0, 0}; float coverage = 0; explicit __device__ operator bool() const { return t < FLT_MAX; } };

class TraversalStack {
    int items_[24];
    int top_ = 0;
public:
    __device__ void push(int v) { items_[top_++] = v; }
    __device__ int pop() { return items_[--top_]; }
    __device__ bool empty() const { return top_ == 0; }
};

__device__ bool slab(const PackedNode &n, const Ray &r, float far)
{
    const float3 inv = make_float3(1.0f / r.d.x, 1.0f / r.d.y, 1.0f / r.d.z);
    const float x0 = (n.lo.x - r.o.x) * inv.x, x1 = (n.hi.x - r.o.x) * inv.x;
    const float y0 = (n.lo.y - r.o.y) * inv.y, y1 = (n.hi.y - r.o.y) * inv.y;
    const float z0 = (n.lo.z - r.o.z) * inv.z, z1 = (n.hi.z - r.o.z) * inv.z;
    const float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    const float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), far));
    return enter <= leave;
}

__device__ void intersect(const Triangle &tri, const Ray &ray, float sharpness, Hit &hit)
{
    const float3 e1 = tri.b - tri.a, e2 = tri.c - tri.a, p = cross(ray.d, e2);
    const float det = dot(e1, p);
    if (fabsf(det) < 1e-8f) return;
    const float3 s = ray.o - tri.a, q = cross(s, e1);
    const float u = dot(s, p) / det, v = dot(ray.d, q) / det, t = dot(e2, q) / det;
    if (t <= 0) return;
    const float edge = fminf(fminf(u, v), 1.0f - u - v);
    const float cover = 0.5f + 0.5f * tanhf(0.5f * sharpness * edge);
    hit.coverage = 1.0f - (1.0f - hit.coverage) * (1.0f - cover);
    if (edge >= 0.0f && t < hit.t) {
        hit.t = t;
        hit.colour = (1.0f / (1.0f + 0.1f * t * t)) * tri.albedo;
    }
}

template <class Visit> __device__ void traverse(const PackedNode *nodes, const Ray &ray, float far, Visit visit)
{
    TraversalStack stack;
    stack.push(0);
    while (!stack.empty()) {
        const PackedNode &node = nodes[stack.pop()];
        if (!slab(node, ray, far)) continue;
        const int left = __float_as_int(node.lo.w), right = __float_as_int(node.hi.w);
        if (left < 0) {
            for (int k = 0; k < right; ++k) visit(~left + k);
        } else {
            stack.push(right);
            stack.push(left);
        }
    }
}

__global__ void render(const PackedNode *__restrict__ nodes, const Triangle *__restrict__ triangles, const Ray *__restrict__ rays,
                       float3 *__restrict__ image, float *__restrict__ alpha, int n, float sharpness)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const Ray ray = rays[i];
        Hit hit;
        traverse(nodes, ray, FLT_MAX, [&](int k) { intersect(triangles[k], ray, sharpness, hit); });
        image[i] = hit ? hit.colour : make_float3(0.1f, 0.1f, 0.2f);
        alpha[i] = hit.coverage;
    }
}
