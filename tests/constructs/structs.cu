// Structs by value, by pointer, in arrays, with pointers; CUDA's vector types; numbers of many widths.
#include "element.h"
#include <cstddef>
#include <cstdint>

struct Spring {
    float stiffness, rest;
    int kind;
};

__global__ void by_value(Spring spring, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = spring.stiffness * (x[i] - spring.rest);
}

__global__ void by_value_with_derivative(Spring material, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = material.stiffness * (x[i] - material.rest) + material.kind;
}

__global__ void one_field_only(Spring partial, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = partial.stiffness * x[i];
}

__global__ void by_pointer(const Spring *spring, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = spring->stiffness * (x[i] - spring->rest);
}

__global__ void array_of_structs(Spring *springs, int n)
{
    MY_ELEMENT(n);
    springs[i].stiffness *= springs[i].rest;
    springs[i].kind += 1;
}

struct Arrays {
    const float *x;
    float *y;
    int n;
};

__global__ void struct_of_arrays(Arrays a)
{
    MY_ELEMENT(a.n);
    a.y[i] = sinf(a.x[i]);
}

struct Simulation {
    float dt;
    const float *force;
    float *velocity;
    double gravity;
    int n;
};

__global__ void numbers_beside_pointers(Simulation sim)
{
    MY_ELEMENT(sim.n);
    sim.velocity[i] += sim.dt * (sim.force[i] - float(sim.gravity));
}

struct Inner {
    float a[2];
    float2 b;
};
struct Outer {
    Inner inner[2];
    double scale;
};

__global__ void nested(const Outer *in, float *y, int n)
{
    MY_ELEMENT(n);
    const Inner &second = in[i].inner[1];
    y[i] = float(in[i].scale) * (second.a[0] * second.b.y + in[i].inner[0].a[1]);
}

struct Base {
    float mass;
};
struct Particle : Base {
    float3 position;
    __device__ float energy() const { return 0.5f * mass * (position.x * position.x + position.z); }
};

__global__ void inherited(const Particle *p, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = p[i].energy();
}

class Account {
public:
    __device__ explicit Account(float start) : balance_(start) {}
    __device__ Account &pay(float amount) { balance_ += amount * amount; return *this; }
    __device__ float balance() const { return balance_; }
private:
    float balance_;
};

__global__ void class_with_methods(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = Account(x[i]).pay(x[i]).pay(2.0f).balance();
}

struct Matrix3 {
    float m[3][3];
};
__device__ Matrix3 times(const Matrix3 &a, const Matrix3 &b)
{
    Matrix3 c = {};
    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s)
            for (int k = 0; k < 3; ++k) c.m[r][s] += a.m[r][k] * b.m[k][s];
    return c;
}

__global__ void returned_struct(const Matrix3 *a, Matrix3 *out, int n)
{
    MY_ELEMENT(n);
    out[i] = times(a[i], a[i]);
}

__global__ void copied_struct(const Spring *in, Spring *out, int n)
{
    MY_ELEMENT(n);
    Spring s = in[i];
    s.rest *= s.stiffness;
    out[i] = s;
}

struct Flags {
    unsigned visible : 1;
    unsigned layer : 7;
    float opacity;
};

__global__ void bit_fields(const Flags *flags, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = flags[i].visible ? flags[i].opacity * flags[i].layer : flags[i].opacity;
}

struct Mask {
    unsigned visible : 1, layer : 7;
};

__global__ void masked_by_bit_fields(const Mask *masks, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = masks[i].visible ? x[i] * x[i] * masks[i].layer : x[i];
}

struct __align__(16) Aligned {
    float value;
    float weight;
};

__global__ void aligned_struct(const Aligned *in, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = in[i].value * in[i].weight;
}

enum class Mode : uint8_t { square, linear };
struct Tagged {
    Mode mode;
    bool on;
    float value;
};

__global__ void enum_and_bool(const Tagged *in, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = in[i].mode == Mode::square ? in[i].value * in[i].value : in[i].on ? in[i].value : 0.5f * in[i].value;
}

// ---- vector types
__global__ void vector_float2(const float2 *in, float2 *out, int n)
{
    MY_ELEMENT(n);
    out[i] = make_float2(in[i].x * in[i].y, in[i].x / in[i].y);
}

__global__ void vector_float3(const float3 *in, float3 *out, int n)
{
    MY_ELEMENT(n);
    const float3 v = in[i];
    out[i] = make_float3(v.y * v.z, v.z * v.x, v.x * v.y);
}

__global__ void vector_float4(const float4 *in, float4 *out, int n)
{
    MY_ELEMENT(n);
    const float4 v = in[i];
    out[i] = make_float4(v.w * v.x, v.x * v.y, v.y * v.z, v.z * v.w);
}

__global__ void vector_double2(const double2 *in, double *y, int n)
{
    MY_ELEMENT(n);
    y[i] = hypot(in[i].x, in[i].y);
}

__global__ void vector_int3(const int3 *cell, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i] * (cell[i].x + cell[i].y * cell[i].z);
}

__global__ void vector_uchar4(const uchar4 *pixel, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * (pixel[i].x + pixel[i].w) / 255.0f;
}

__global__ void floats_as_float4(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 >= n) return;
    float4 v = reinterpret_cast<const float4 *>(x)[i];
    v.x *= v.y;
    v.z = v.w * v.w;
    reinterpret_cast<float4 *>(y)[i] = v;
}

// ---- unions
union Word {
    float number;
    uint32_t bits;
};

__global__ void union_of_bits(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    Word w;
    w.number = x[i];
    w.bits &= 0x7fffffffu;
    y[i] = w.number * w.number;
}

union Vector {
    float4 v;
    float a[4];
};

__global__ void union_as_array(const float4 *in, float *y, int n)
{
    MY_ELEMENT(n);
    Vector u;
    u.v = in[i];
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += (k + 1) * u.a[k] * u.a[k];
    y[i] = sum;
}

__global__ void union_in_memory(const Word *words, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = words[i].number * words[i].number;
}

// ---- arguments of all widths
__global__ void integer_arguments(const float *x, float *y, size_t n, long stride, unsigned shift, char sign, bool twice)
{
    MY_ELEMENT(n);
    y[(i * stride) % n] = sign * x[(i + shift) % n] * (twice ? 2.0f : 1.0f);
}

__global__ void narrow_arguments(const float *x, float *y, short a, unsigned char b, uint16_t c, long long d, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * (a + b + c + d);
}

__global__ void index_arrays(const float *x, const unsigned char *small, const int64_t *large, const bool *on, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = on[i] ? x[small[i]] * x[large[i]] : x[i];
}

__global__ void float_and_double(const float *x, const double *w, double *y, float a, double b, int n)
{
    MY_ELEMENT(n);
    y[i] = double(a * x[i]) * w[i] + b;
}

__global__ void scalar_with_derivative(const float *x, float *y, float alpha, double beta, int n)
{
    MY_ELEMENT(n);
    y[i] = alpha * x[i] + float(beta * beta);
}

__global__ void const_scalars(const float *const x, float *const y, const float scale, const int n)
{
    MY_ELEMENT(n);
    y[i] = scale * x[i] * x[i];
}

__global__ void reserved_names(const float *seed, float *wrt, const float *cotangents, float *shadows, int tolerance)
{
    MY_ELEMENT(tolerance);
    wrt[i] = seed[i] * cotangents[i];
    shadows[i] = seed[i] * seed[i];
}

// ---- unions that only give the same floats several names
struct Two {
    union { float x, r; };
    union { float y, g; };
};

struct Three {
    union {
        struct { float x, y, z; };
        struct { float r, g, b; };
        float data[3];
    };
    __device__ float &operator[](int k) { return data[k]; }
};

__global__ void renaming_unions(const Two *in, Three *out, Three by, int n)
{
    MY_ELEMENT(n);
    Three v;
    v.x = in[i].r * in[i].x;
    v[1] = in[i].g * v.r;
    v.b = in[i].y;
    for (int k = 0; k < 3; ++k) v.data[k] *= by[k];
    out[i] = v;
}
