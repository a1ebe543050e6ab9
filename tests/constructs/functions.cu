// Templates, overloads, calls of every kind, lambdas, and what decides at run time which function is called.
#include "element.h"
#include "functions.cuh"
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda/std/utility>

// ---- templates
template <typename T> __global__ void typed(const T *x, T *y, int n)
{
    MY_ELEMENT(n);
    y[i] = sin(x[i]) * T(2);
}

template <int Order> __global__ void valued(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float power = 1;
    for (int k = 0; k < Order; ++k) power *= x[i];
    y[i] = power;
}

template <typename T, bool Squared = true> __global__ void defaulted(const T *x, T *y, int n)
{
    MY_ELEMENT(n);
    if constexpr (Squared)
        y[i] = x[i] * x[i];
    else
        y[i] = x[i];
}

template <typename T> struct Traits;
template <> struct Traits<float> {
    static __device__ float slope() { return 3.0f; }
};

template <typename T> __global__ void specialised(const T *x, T *y, int n)
{
    MY_ELEMENT(n);
    y[i] = Traits<T>::slope() * x[i] * x[i];
}

template <typename... T> __device__ float product_of(T... factors) { return (factors * ...); }

__global__ void variadic(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = product_of(x[i], x[i] + 1.0f, 2.0f);
}

template <template <typename> class Op, typename T> __global__ void template_template(const T *x, T *y, int n)
{
    MY_ELEMENT(n);
    y[i] = Op<T>()(x[i]);
}

template <typename T> struct Cube {
    __device__ T operator()(T v) const { return v * v * v; }
};

template <typename Derived> struct Shape {
    __device__ float area(float r) const { return static_cast<const Derived *>(this)->raw(r) * 0.5f; }
};
struct Disc : Shape<Disc> {
    __device__ float raw(float r) const { return 3.14f * r * r; }
};

__global__ void curiously_recurring(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = Disc().area(x[i]);
}

template <typename F> __global__ void functor_template(const float *x, float *y, F f, int n)
{
    MY_ELEMENT(n);
    y[i] = f(x[i]);
}

struct Saxpy {
    float a, b;
    __device__ float operator()(float v) const { return a * v * v + b; }
};

// ---- names
__device__ float weight(float v) { return 2.0f * v; }
__device__ double weight(double v) { return 3.0 * v; }
__device__ float weight(int v) { return 5.0f * v; }

__global__ void overloaded(const float *x, const double *w, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = weight(x[i]) * float(weight(w[i])) + weight(i);
}

namespace outer::inner {
namespace {
__device__ float hidden(float v) { return v * expf(v); }
} // namespace
__global__ void in_namespaces(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = hidden(x[i]);
}
} // namespace outer::inner

using namespace outer::inner;

extern "C" __global__ void c_linkage(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = outer::inner::hidden(x[i]) + 1.0f;
}

static __global__ void with_internal_linkage(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = x[i] * x[i];
}

#define DEFINE_UNARY(name, expression) \
    __global__ void name(const float *x, float *y, int n) \
    { \
        MY_ELEMENT(n); \
        const float v = x[i]; \
        y[i] = expression; \
    }
DEFINE_UNARY(made_by_macro, v / (1.0f + v))

__global__ void __launch_bounds__(128, 2) with_launch_bounds(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = sqrtf(x[i]);
}

__global__ void with_definitions(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = SCALE * x[i] * x[i];
}

// ---- device functions
__device__ float declared_first(float v);
__global__ void calls_later_definition(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = declared_first(x[i]);
}
__device__ float declared_first(float v) { return cosf(v); }

__device__ __noinline__ float not_inlined(float v, float w) { return v * sinf(w); }
__device__ __forceinline__ float inlined(float v) { return tanhf(v); }

__global__ void inlined_and_not(const float *x, const float *w, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = not_inlined(x[i], inlined(w[i]));
}

__device__ void by_reference(float v, float &first, float *second)
{
    first = v * v;
    *second = first * v;
}

__global__ void results_by_reference(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    float a, b;
    by_reference(x[i], a, &b);
    y[i] = a + 2.0f * b;
}

__host__ __device__ constexpr float halved(float v, float factor = 0.5f) { return v * factor; }

__global__ void default_arguments(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    constexpr float c = halved(3.0f);
    y[i] = halved(x[i]) * x[i] + c;
}

__device__ float horner(const float *c, float v, int terms)
{
    return terms == 0 ? 0.0f : c[0] + v * horner(c + 1, v, terms - 1);
}

__global__ void recursive(const float *x, const float *c, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = horner(c, x[i], 5);
}

__device__ float odd_step(float v, int k);
__device__ float even_step(float v, int k) { return k == 0 ? v : odd_step(v * v, k - 1); }
__device__ float odd_step(float v, int k) { return k == 0 ? v : even_step(sinf(v), k - 1); }

__device__ float polynomial_from(const float *a, int n, float v)
{
    return n == 0 ? 0.0f : a[0] + v * polynomial_from(a + 1, n - 1, v);
}

__global__ void recursive_deep(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a[24];
    for (int k = 0; k < 24; ++k) a[k] = sinf(x[i] * k);
    y[i] = polynomial_from(a, 24, 0.5f * x[i]);
}

__global__ void mutually_recursive(const float *x, float *y, int depth, int n)
{
    MY_ELEMENT(n);
    y[i] = even_step(x[i], depth);
}

struct float_pair {
    float a, b;
};
__device__ float_pair operator*(float_pair p, float_pair q) { return {p.a * q.a - p.b * q.b, p.a * q.b + p.b * q.a}; }

__global__ void overloaded_operators(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float_pair z = float_pair{x[i], 1.0f} * float_pair{x[i], 2.0f};
    y[i] = z.a + z.b;
}

// ---- lambdas
__global__ void lambdas(const float *x, float *y, float scale, int n)
{
    MY_ELEMENT(n);
    float sum = 0;
    auto add = [&sum, scale](float v) { sum += scale * v * v; };
    auto generic = [](auto a, auto b) { return a * b; };
    add(x[i]);
    add(generic(x[i], 2.0f));
    y[i] = sum;
}

__global__ void immediately_called(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const float v = [&] {
        if (x[i] > 1.0f) return x[i] * x[i];
        return 2.0f * x[i] - 1.0f;
    }();
    y[i] = v;
}

// ---- which function is decided
__device__ float square(float v) { return v * v; }
__device__ float root(float v) { return sqrtf(v); }
__device__ float wave(float v) { return sinf(v); }
typedef float (*unary)(float);

template <unary F> __global__ void pointer_as_template_argument(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = F(x[i]);
}

__global__ void local_function_pointer(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    unary f = square;
    y[i] = f(x[i]);
}

__device__ float apply_twice(unary f, float v) { return f(f(v)); }

__global__ void function_as_argument(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = apply_twice(wave, x[i]);
}

__device__ float halved(unary f, float low, float high, int depth)
{
    const float middle = 0.5f * (low + high), rough = f(middle) * (high - low);
    if (depth == 0 || high - low < 0.3f) return rough;
    return halved(f, low, middle, depth - 1) + halved(f, middle, high, depth - 1);
}

__global__ void function_handed_on_by_recursion(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    y[i] = halved(which == 0 ? square : wave, 0.0f, x[i], 3) * halved(root, 0.0f, x[i], 2);
}

__global__ void chosen_function_pointer(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    unary f = which == 0 ? square : which == 1 ? root : wave;
    y[i] = f(x[i]);
}

__device__ unary operations[] = {square, root, wave};
__constant__ unary constant_operations[3] = {wave, square, root};

__global__ void table_of_functions(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    y[i] = operations[which](x[i]);
}

__global__ void constant_table_of_functions(const float *x, const int *which, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = constant_operations[which[i]](x[i]);
}

__global__ void local_table_of_functions(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    const unary table[2] = {square, wave};
    y[i] = table[which](x[i]);
}

__device__ unary selected = square;

__global__ void function_in_variable(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = selected(x[i]);
}

__global__ void function_as_parameter(unary f, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = f(x[i]);
}

struct Material {
    __device__ virtual float stress(float strain) const = 0;
    __device__ virtual ~Material() {}
};
struct Elastic : Material {
    float modulus;
    __device__ Elastic(float m) : modulus(m) {}
    __device__ float stress(float strain) const override { return modulus * strain; }
};
struct Hardening final : Material {
    float modulus;
    __device__ Hardening(float m) : modulus(m) {}
    __device__ float stress(float strain) const override { return modulus * strain * strain; }
};

__global__ void devirtualised(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    Hardening steel(3.0f);
    const Material &material = steel;
    y[i] = material.stress(x[i]);
}

__global__ void virtual_call(const float *x, float *y, int kind, int n)
{
    MY_ELEMENT(n);
    Elastic rubber(x[i]);
    Hardening steel(2.0f);
    const Material *material = kind ? static_cast<const Material *>(&rubber) : &steel;
    y[i] = material->stress(x[i]);
}

__global__ void virtual_calls_of_a_list(const float *x, const int *k, float *y, int n)
{
    MY_ELEMENT(n);
    Elastic rubber(x[i]);
    Hardening steel(x[i] * x[i]);
    const Material *list[3] = {&rubber, &steel, &rubber};
    float sum = 0;
    for (int j = 0; j < k[i] % 3 + 1; ++j) sum += list[(j + k[i]) % 3]->stress(x[i] + j);
    y[i] = sum;
}

__global__ void virtual_calls_on_the_heap(const float *x, const int *k, float *y, int n)
{
    MY_ELEMENT(n);
    Material **list = new Material *[2];
    list[0] = new Elastic(x[i]);
    list[1] = new Hardening(x[i]);
    float sum = 0;
    for (int j = 0; j < 3; ++j) sum += list[(j + k[i]) % 2]->stress(x[i] + j);
    y[i] = sum;
    for (int j = 0; j < 2; ++j) delete list[j];
    delete[] list;
}

__global__ void virtual_calls_in_shared_memory(const float *x, const int *k, float *y, int n)
{
    __shared__ const Material *list[2];
    __shared__ char rooms[2][sizeof(Hardening)];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        list[0] = new (rooms[0]) Elastic(x[0]);
        list[1] = new (rooms[1]) Hardening(x[1]);
    }
    __syncthreads();
    if (i < n) y[i] = list[k[i] % 2]->stress(x[i]);
}

__global__ void virtual_call_through_parameter(const Material *const *materials, const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    y[i] = materials[i]->stress(x[i]);
}

struct Filter {
    float gain;
    __device__ float low(float v) const { return gain * v * v; }
    __device__ float high(float v) const { return gain / v; }
    __device__ float band(float v) const { return v / (gain + v * v); }
};

__global__ void pointer_to_member(const float *x, float *y, int which, int n)
{
    MY_ELEMENT(n);
    const Filter filter{2.0f};
    using Method = float (Filter::*)(float) const;
    const Method method = which == 0 ? &Filter::low : which == 1 ? &Filter::high : &Filter::band;
    const Method all[3] = {&Filter::band, &Filter::low, &Filter::high};
    float Filter::*member = &Filter::gain;
    y[i] = (filter.*method)(x[i]) * (filter.*all[i % 3])(x[i]) + filter.*member;
}

// ---- the library of the device
__global__ void standard_containers(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    cuda::std::array<float, 3> powers = {x[i], x[i] * x[i], x[i] * x[i] * x[i]};
    float sum = 0;
    for (float p : powers) sum += p;
    auto [low, high] = cuda::std::make_pair(sum, sum * x[i]);
    y[i] = low + cuda::std::get<1>(cuda::std::make_tuple(1.0f, high));
}

__global__ void standard_complex(const float *x, float *y, int n)
{
    MY_ELEMENT(n);
    const cuda::std::complex<float> z(x[i], 0.5f);
    y[i] = cuda::std::norm(z * z) + z.imag() * z.real();
}

int main()
{
    float *x = nullptr, *y = nullptr;
    typed<<<1, 32>>>(x, y, 32);
    typed<<<1, 32>>>((double *)nullptr, (double *)nullptr, 32);
    valued<3><<<1, 32>>>(x, y, 32);
    defaulted<<<1, 32>>>(x, y, 32);
    specialised<<<1, 32>>>(x, y, 32);
    template_template<Cube, float><<<1, 32>>>(x, y, 32);
    functor_template<<<1, 32>>>(x, y, Saxpy{2.0f, 1.0f}, 32);
    functor_template<<<1, 32>>>(x, y, [] __device__(float v) { return v * v; }, 32);
    pointer_as_template_argument<root><<<1, 32>>>(x, y, 32);
    with_internal_linkage<<<1, 32>>>(x, y, 32);
    return 0;
}
