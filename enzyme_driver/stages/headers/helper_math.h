// Arithmetic of CUDA's vector types, in place of a header of NVIDIA's samples that is not installed.
#pragma once
#include <cmath>
#include <cuda_runtime.h>

#define ADGEN_MATH inline __host__ __device__

// One operator between vectors, and between a vector and a number.
#define ADGEN_OPERATOR(V, T, OP, EACH, LEFT, RIGHT) \
    ADGEN_MATH V operator OP(V a, V b) { return make_##V EACH; } \
    ADGEN_MATH V operator OP(V a, T b) { return make_##V LEFT; } \
    ADGEN_MATH V operator OP(T a, V b) { return make_##V RIGHT; } \
    ADGEN_MATH void operator OP##=(V &a, V b) { a = a OP b; } \
    ADGEN_MATH void operator OP##=(V &a, T b) { a = a OP b; }
#define ADGEN_OPERATOR2(V, T, OP) \
    ADGEN_OPERATOR(V, T, OP, (a.x OP b.x, a.y OP b.y), (a.x OP b, a.y OP b), (a OP b.x, a OP b.y))
#define ADGEN_OPERATOR3(V, T, OP) \
    ADGEN_OPERATOR(V, T, OP, (a.x OP b.x, a.y OP b.y, a.z OP b.z), (a.x OP b, a.y OP b, a.z OP b), (a OP b.x, a OP b.y, a OP b.z))
#define ADGEN_OPERATOR4(V, T, OP) \
    ADGEN_OPERATOR(V, T, OP, (a.x OP b.x, a.y OP b.y, a.z OP b.z, a.w OP b.w), (a.x OP b, a.y OP b, a.z OP b, a.w OP b), \
                   (a OP b.x, a OP b.y, a OP b.z, a OP b.w))
#define ADGEN_OPERATORS(N, V, T) ADGEN_OPERATOR##N(V, T, +) ADGEN_OPERATOR##N(V, T, -) ADGEN_OPERATOR##N(V, T, *)
#define ADGEN_ALL_OPERATORS(T) ADGEN_OPERATORS(2, T##2, T) ADGEN_OPERATORS(3, T##3, T) ADGEN_OPERATORS(4, T##4, T)

ADGEN_ALL_OPERATORS(float)
ADGEN_ALL_OPERATORS(int)
ADGEN_OPERATOR2(float2, float, /)
ADGEN_OPERATOR3(float3, float, /)
ADGEN_OPERATOR4(float4, float, /)

// Vectors of vectors and of numbers.
#define ADGEN_MAKE(T) \
    ADGEN_MATH T##2 make_##T##2(T s) { return make_##T##2(s, s); } \
    ADGEN_MATH T##2 make_##T##2(T##3 a) { return make_##T##2(a.x, a.y); } \
    ADGEN_MATH T##2 make_##T##2(T##4 a) { return make_##T##2(a.x, a.y); } \
    ADGEN_MATH T##3 make_##T##3(T s) { return make_##T##3(s, s, s); } \
    ADGEN_MATH T##3 make_##T##3(T##2 a, T s = 0) { return make_##T##3(a.x, a.y, s); } \
    ADGEN_MATH T##3 make_##T##3(T##4 a) { return make_##T##3(a.x, a.y, a.z); } \
    ADGEN_MATH T##4 make_##T##4(T s) { return make_##T##4(s, s, s, s); } \
    ADGEN_MATH T##4 make_##T##4(T##3 a, T s = 0) { return make_##T##4(a.x, a.y, a.z, s); }
ADGEN_MAKE(float)
ADGEN_MAKE(int)
ADGEN_MATH float2 make_float2(int2 a) { return make_float2(float(a.x), float(a.y)); }
ADGEN_MATH float3 make_float3(int3 a) { return make_float3(float(a.x), float(a.y), float(a.z)); }
ADGEN_MATH float4 make_float4(int4 a) { return make_float4(float(a.x), float(a.y), float(a.z), float(a.w)); }

ADGEN_MATH float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
ADGEN_MATH float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
ADGEN_MATH float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
ADGEN_MATH float3 cross(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }

// What is done to each number of a vector.
#define ADGEN_EACH(NAME, F) \
    ADGEN_MATH float2 NAME(float2 a) { return make_float2(F(a.x), F(a.y)); } \
    ADGEN_MATH float3 NAME(float3 a) { return make_float3(F(a.x), F(a.y), F(a.z)); } \
    ADGEN_MATH float4 NAME(float4 a) { return make_float4(F(a.x), F(a.y), F(a.z), F(a.w)); }
ADGEN_EACH(operator-, -)
ADGEN_EACH(floorf, ::floorf)
ADGEN_EACH(fabs, ::fabsf)
#define ADGEN_EACH_PAIR(NAME) \
    ADGEN_MATH float2 NAME(float2 a, float2 b) { return make_float2(::NAME(a.x, b.x), ::NAME(a.y, b.y)); } \
    ADGEN_MATH float3 NAME(float3 a, float3 b) { return make_float3(::NAME(a.x, b.x), ::NAME(a.y, b.y), ::NAME(a.z, b.z)); } \
    ADGEN_MATH float4 NAME(float4 a, float4 b) { return make_float4(::NAME(a.x, b.x), ::NAME(a.y, b.y), ::NAME(a.z, b.z), ::NAME(a.w, b.w)); }
ADGEN_EACH_PAIR(fminf)
ADGEN_EACH_PAIR(fmaxf)

ADGEN_MATH float lerp(float a, float b, float t) { return a + t * (b - a); }
ADGEN_MATH float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
ADGEN_MATH int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
ADGEN_MATH float fracf(float v) { return v - floorf(v); }
ADGEN_MATH float smoothstep(float low, float high, float v)
{
    const float t = clamp((v - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
ADGEN_MATH float3 reflect(float3 v, float3 normal) { return v - 2.0f * normal * dot(normal, v); }

#define ADGEN_OF_VECTOR(V) \
    ADGEN_MATH float length(V a) { return sqrtf(dot(a, a)); } \
    ADGEN_MATH V normalize(V a) { return a * (1.0f / sqrtf(dot(a, a))); } \
    ADGEN_MATH V lerp(V a, V b, float t) { return a + t * (b - a); } \
    ADGEN_MATH V clamp(V v, V low, V high) { return fmaxf(low, fminf(v, high)); } \
    ADGEN_MATH V clamp(V v, float low, float high) { return clamp(v, make_##V(low), make_##V(high)); }
ADGEN_OF_VECTOR(float2)
ADGEN_OF_VECTOR(float3)
ADGEN_OF_VECTOR(float4)
