// Overlap of convex polygons by Sutherland-Hodgman clipping, as rotated boxes in detection need it: intersection over
// union, a generalised loss with the enclosing circle, and areas and moments of clipped cells for remapping of meshes.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

struct Polygon {
    static constexpr int most = 10;
    float2 corner[most];
    int count;

    __device__ Polygon() : count(0) {}
    __device__ void push(float2 p)
    {
        if (count < most) corner[count++] = p;
    }
    __device__ float area() const
    {
        float a = 0.f;
        for (int i = 0; i < count; ++i) {
            const float2 p = corner[i], q = corner[i + 1 < count ? i + 1 : 0];
            a += p.x * q.y - q.x * p.y;
        }
        return 0.5f * a;
    }
};

struct Box {
    float x, y, w, h, angle;
};

__device__ float side(float2 a, float2 b, float2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

__device__ Polygon clip(const Polygon &subject, float2 a, float2 b)
{
    Polygon out;
    for (int i = 0; i < subject.count; ++i) {
        const float2 p = subject.corner[i], q = subject.corner[(i + 1) % subject.count];
        const float sp = side(a, b, p), sq = side(a, b, q);
        if (sp >= 0.f) out.push(p);
        if ((sp >= 0.f) != (sq >= 0.f)) {
            const float t = sp / (sp - sq);
            out.push(make_float2(p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)));
        }
    }
    return out;
}

__device__ Polygon intersect(Polygon subject, const Polygon &window)
{
    for (int i = 0; i < window.count && subject.count > 2; ++i)
        subject = clip(subject, window.corner[i], window.corner[(i + 1) % window.count]);
    return subject;
}

__device__ Polygon corners(const Box &b)
{
    Polygon p;
    float s, c;
    sincosf(b.angle, &s, &c);
    const float dx[4] = {-0.5f, 0.5f, 0.5f, -0.5f}, dy[4] = {-0.5f, -0.5f, 0.5f, 0.5f};
    for (int i = 0; i < 4; ++i) p.push(make_float2(b.x + c * dx[i] * b.w - s * dy[i] * b.h, b.y + s * dx[i] * b.w + c * dy[i] * b.h));
    return p;
}

__global__ void rotated_iou(const Box *predicted, const Box *wanted, float *iou, float *loss, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Box a = predicted[i], b = wanted[i];
    const Polygon overlap = intersect(corners(a), corners(b));
    const float common = overlap.count > 2 ? overlap.area() : 0.f;
    const float all = a.w * a.h + b.w * b.h - common;
    iou[i] = common / all;
    const float dx = a.x - b.x, dy = a.y - b.y;
    const float reach = a.w * a.w + a.h * a.h + b.w * b.w + b.h * b.h;
    loss[i] = 1.f - iou[i] + (dx * dx + dy * dy) / reach;
}

// conservative remap: each source cell gives to the cells of a regular grid in proportion to the overlap
__global__ void remap(const float2 *corner_of, const float *value, float *target, float *weight, int cells, int nx, int ny)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    Polygon source;
    float left = 1e9f, right = -1e9f, low = 1e9f, high = -1e9f;
    for (int k = 0; k < 4; ++k) {
        const float2 p = corner_of[4 * c + k];
        source.push(p);
        left = fminf(left, p.x);
        right = fmaxf(right, p.x);
        low = fminf(low, p.y);
        high = fmaxf(high, p.y);
    }
    for (int j = max((int)floorf(low), 0); j <= min((int)floorf(high), ny - 1); ++j)
        for (int i = max((int)floorf(left), 0); i <= min((int)floorf(right), nx - 1); ++i) {
            Polygon cell;
            cell.push(make_float2(i, j));
            cell.push(make_float2(i + 1, j));
            cell.push(make_float2(i + 1, j + 1));
            cell.push(make_float2(i, j + 1));
            const Polygon piece = intersect(source, cell);
            if (piece.count < 3) continue;
            const float a = piece.area();
            atomicAdd(&target[j * nx + i], a * value[c]);
            atomicAdd(&weight[j * nx + i], a);
        }
}

int main()
{
    const int n = 64;
    std::vector<Box> boxes(n);
    for (int i = 0; i < n; ++i) boxes[i] = {0.1f * i, 0.05f * i, 2.f, 1.f, 0.02f * i};
    Box *a, *b;
    float *iou, *loss;
    cudaMalloc(&a, n * sizeof(Box));
    cudaMalloc(&b, n * sizeof(Box));
    cudaMallocManaged(&iou, n * sizeof(float));
    cudaMallocManaged(&loss, n * sizeof(float));
    cudaMemcpy(a, boxes.data(), n * sizeof(Box), cudaMemcpyHostToDevice);
    for (auto &box : boxes) box.angle += 0.3f;
    cudaMemcpy(b, boxes.data(), n * sizeof(Box), cudaMemcpyHostToDevice);
    rotated_iou<<<2, 32>>>(a, b, iou, loss, n);
    cudaDeviceSynchronize();
    printf("%f\n", iou[0]);
    return 0;
}
