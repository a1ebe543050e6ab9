"""Variables of the device: set from Python, with a derivative on request, alone and as structs of pointers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import cli

SOURCE = """\
struct Fluid { const float *density; float *flux; const int *cell; float spacing; int n; };
namespace scheme { __constant__ float weight[2][3]; }
inline __device__ float slopes[2] = {1.0f, 2.0f};
template <class T> struct Law {
    static __constant__ T power;
    static constexpr T base = T(3);
    static constexpr T shifts[2] = {T(4), T(5)};
};
template <class T> __constant__ T Law<T>::power = T(2);
template <class T, int N> __constant__ T taps[N];
__device__ float gain = 2.0f;
__device__ int calls;
__device__ float scratch[64];
__constant__ Fluid fluid;
__device__ const float *heights;
__device__ float *state;
__device__ float *layers[2];
struct Curve { double slope, offset; };
__constant__ Curve curve;

__global__ void filter(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&calls, 1);
    y[i] = x[i] * x[i] * scheme::weight[i % 2][i % 3] * gain;
}

__device__ float gained(float x) { return gain * x * x; }
__global__ void hidden(const float *x, float *y, const float *gain) {
    y[threadIdx.x] = gained(x[threadIdx.x]) * gain[threadIdx.x];
}

__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    scratch[i] = x[i] * x[i];
    y[i] = scratch[i] * x[i];
}

__device__ const float *pick(const float *from, int i) { return from + i % 2; }
__device__ float shifted(const float &x, const float &by) { return x * by; }
__global__ void by_law(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = slopes[i % 2] * powf(x[i], Law<float>::power);
    y[i] += shifted(x[i], Law<float>::base) * *pick(Law<float>::shifts, i);
}

template <class T> __global__ void tapped(const T *x, T *y) {
    y[threadIdx.x] = x[threadIdx.x] * taps<T, 3>[threadIdx.x];
}
template __global__ void tapped<float>(const float *, float *);
template __global__ void tapped<double>(const double *, double *);

__device__ unsigned next_row;
__global__ void from_a_queue(const float *x, float *y, unsigned rows) {
    __shared__ unsigned row;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) row = atomicAdd(&next_row, 1u);
        __syncthreads();
        if (row >= rows) return;
        y[row * blockDim.x + threadIdx.x] = x[row * blockDim.x + threadIdx.x] * x[row * blockDim.x];
    }
}

__device__ double moments[2];
__global__ void summed(const double *x, int n) {
    double one = 0, two = 0;
    for (int i = 0; i < n; ++i) { one += curve.slope * x[i]; two += x[i] * x[i]; }
    moments[0] = one; moments[1] = two;
}

__global__ void drawn(double *y) { y[threadIdx.x] = exp(curve.slope * threadIdx.x) + curve.offset; }
__global__ void squared(const double *x, double *y) { y[threadIdx.x] = exp(100 * x[threadIdx.x]); }

__global__ void flow(const float *speed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < fluid.n) fluid.flux[i] = fluid.density[fluid.cell[i]] * speed[i] * fluid.spacing;
}

__global__ void raised(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = heights[n - 1 - i] * x[i];
}

__global__ void layered(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) layers[1][i] = layers[0][i] * x[i];
}

__global__ void stepped(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) state[i] = state[i] * state[i] * x[i];
}
"""


def _arrays(rng: np.random.Generator) -> dict[str, Any]:
    return {"x": rng.uniform(1, 2, 50).astype(np.float32), "y": np.zeros(50, np.float32), "n": 50}


@pytest.mark.usefixtures("toolchain")
def test_what_is_set_is_what_the_kernel_reads(file: Path) -> None:
    rng = np.random.default_rng()
    kernel = adgen.compile(file, kernel="filter")
    weight = rng.uniform(1, 2, (2, 3)).astype(np.float32)
    kernel.variables["scheme::weight"] = weight
    assert kernel.variables["gain"] == 2
    kernel.variables["gain"] = 0.5
    args = _arrays(rng)
    kernel[2, 32](**args)
    i = np.arange(50)
    np.testing.assert_allclose(args["y"], args["x"] ** 2 * weight[i % 2, i % 3] * 0.5, rtol=1e-5)
    assert kernel.variables["calls"] == 50
    kernel.check[2, 32](**args)


@pytest.mark.usefixtures("toolchain")
def test_a_variable_has_a_derivative_where_it_is_asked_for(file: Path) -> None:
    rng = np.random.default_rng()
    kernel = adgen.compile(file, kernel="filter", activity={"scheme::weight": "active", "gain": "active"})
    kernel.variables["scheme::weight"] = rng.uniform(1, 2, (2, 3)).astype(np.float32)
    checked = kernel.check[2, 32](**_arrays(rng))
    assert {part.name for part in checked.parameters} == {"x", "scheme::weight", "gain"}
    assert all(part.difference != 0 for part in checked.parameters)


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("dtype", ["float", "double"])
def test_instances_of_a_variable_template_are_apart(file: Path, dtype: str) -> None:
    kernel = adgen.compile(file, kernel=f"tapped<{dtype}>")
    taps = np.array([2, 3, 4], {"float": np.float32, "double": np.float64}[dtype])
    kernel.variables[f"taps<{dtype}, 3>"] = taps
    x = np.array([5, 6, 7], taps.dtype)
    found = kernel.vjp[1, 3](x, np.zeros_like(x), cotangents={"y": np.ones_like(x)})
    np.testing.assert_array_equal(found["x"], [2, 3, 4])


@pytest.mark.usefixtures("toolchain")
def test_inline_variables_and_those_of_templates_are_set_but_not_constants(file: Path) -> None:
    kernel = adgen.compile(file, kernel="by_law", activity={"Law<float>::power": "active", "slopes": "active"})
    assert {"slopes", "Law<float>::power"} <= set(kernel.variables)
    assert not {"Law<float>::base", "Law<float>::shifts"} & set(kernel.variables)
    kernel.variables["Law<float>::power"] = 1.5
    x, y, i = np.linspace(1, 2, 6, dtype=np.float32), np.zeros(6, np.float32), np.arange(6)
    kernel[1, 6](x, y)
    np.testing.assert_allclose(y, (1 + i % 2) * x**1.5 + 3 * x * (4 + i % 2), rtol=1e-5)
    checked = kernel.check[1, 6](x, y)
    assert {part.name for part in checked.parameters} == {"x", "slopes", "Law<float>::power"}


@pytest.mark.usefixtures("toolchain")
def test_a_kernel_of_nothing_but_a_variable_is_checked(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["-k", "drawn", "-t", "openmp", "--arg", "y=zeros:f64:8", "--grid", "1", "--block", "8"]
    assert cli.run(["check", str(file), *given]) == adgen.ArgumentError.exit_code
    error = capsys.readouterr().err
    assert "drawn has no parameter to check" in error
    assert "curve=active" in error
    np.save(file.with_name("curve.npy"), np.array((0.1, 2.0), [("slope", "f8"), ("offset", "f8")]))
    given += ["--activity", "curve=active", "--arg", f"curve={file.with_name('curve.npy')}"]
    assert cli.run(["check", str(file), *given, "--json"]) == 0
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert [(part["name"], part["difference"] != 0) for part in check["parameters"]] == [("curve", True)]


@pytest.mark.usefixtures("toolchain")
def test_a_variable_of_other_kernels_makes_no_check_coarser(file: Path) -> None:
    kernel = adgen.compile(file, kernel="squared", activity={"gain": "active"})
    result = kernel.check[1, 8](np.linspace(-1, 1, 8), np.zeros(8))
    assert result.tolerance == 1e-6


@pytest.mark.usefixtures("toolchain")
def test_a_variable_that_a_parameter_hides_is_called_as_in_cpp(file: Path) -> None:
    rng = np.random.default_rng()
    kernel = adgen.compile(file, kernel="hidden", activity={"::gain": "active"})
    kernel.variables["::gain"] = 0.5
    x, gain = (rng.uniform(1, 2, 8).astype(np.float32) for _ in range(2))
    y = np.zeros(8, np.float32)
    kernel[1, 8](x, y, gain)
    np.testing.assert_allclose(y, 0.5 * x**2 * gain, rtol=1e-5)
    checked = kernel.check[1, 8](x, y, gain)
    assert {part.name for part in checked.parameters} == {"x", "gain", "::gain"}


@pytest.mark.usefixtures("toolchain")
def test_results_in_a_variable_are_checked_and_have_cotangents(file: Path) -> None:
    kernel = adgen.compile(file, kernel="summed", activity={"moments": "active", "curve": "active"})
    kernel.variables["curve"] = {"slope": 0.5, "offset": 0}
    x = np.random.default_rng().uniform(1, 2, 9)
    found = kernel.vjp[1, 1](x, 9, cotangents={"moments": np.array([2.0, 3.0])})
    np.testing.assert_allclose(found["x"], 2 * 0.5 + 3 * 2 * x)
    np.testing.assert_allclose(found["curve"]["slope"], 2 * x.sum())
    for _ in range(2):  # the second time the variable holds what the kernel computes
        kernel[1, 1](x, 9)
        differences = {part.name: part.difference for part in kernel.check[1, 1](x, 9).parameters}
        assert differences["x"] != 0
        assert differences["curve"] != 0
    with pytest.raises(adgen.ArgumentError, match="shadow 'moments'"):
        kernel.vjp[1, 1](x, 9, cotangents={"moments": np.zeros(3)})
    with pytest.raises(adgen.ArgumentError, match="with respect to this variable"):
        kernel.vjp[1, 1](x, 9, cotangents={"gain": 1.0})


HIDDEN = """\
static __constant__ float weight[2];
namespace { __constant__ float gain; }
__constant__ struct { float low, high; } bounds;
static const float none[2] = {0.0f, 0.0f};
__global__ void bounded(const float *x, float *y) {
    float v = x[threadIdx.x] * weight[threadIdx.x % 2] + none[threadIdx.x % 2];
    y[threadIdx.x] = gain * fminf(fmaxf(v, bounds.low), bounds.high);
}
"""


@pytest.mark.usefixtures("toolchain")
def test_constants_of_a_file_whose_host_code_is_elsewhere_can_be_set(tmp_path: Path) -> None:
    (tmp_path / "bounded.cuh").write_text(HIDDEN)
    names = ("weight", "gain", "bounds")
    kernel = adgen.compile(tmp_path / "bounded.cuh", kernel="bounded", activity=dict.fromkeys(names, "active"))
    assert set(kernel.variables) == set(names)
    kernel.variables["weight"], kernel.variables["gain"] = [0.5, 2.0], 3
    kernel.variables["bounds"] = {"low": -0.9, "high": 1.5}
    x, y = np.linspace(-2, 2, 8, dtype=np.float32), np.zeros(8, np.float32)
    kernel[1, 8](x, y)
    weight = np.resize([0.5, 2.0], 8)
    np.testing.assert_allclose(y, 3 * np.clip(x * weight, -0.9, 1.5), rtol=1e-5)
    assert all(part.difference != 0 for part in kernel.check[1, 8](x, y).parameters)


@pytest.mark.usefixtures("toolchain")
def test_memory_between_two_steps(file: Path) -> None:
    with pytest.raises(adgen.RefusedError, match=r"(?s)global variable 'scratch'.*scratch=duplicated"):
        adgen.compile(file, kernel="twice")
    kernel = adgen.compile(file, kernel="twice", activity={"scratch": "duplicated"})
    args = _arrays(np.random.default_rng())
    found = kernel.vjp[2, 32](**args, cotangents={"y": np.ones(50, np.float32)})
    np.testing.assert_allclose(found["x"], 3 * args["x"] ** 2, rtol=1e-5)
    assert not found["scratch"].any()


@pytest.mark.usefixtures("toolchain")
def test_a_struct_of_pointers(file: Path) -> None:
    rng = np.random.default_rng()
    with pytest.raises(adgen.RefusedError, match=r"(?s)pointer in the global variable 'fluid'.*fluid=duplicated"):
        adgen.compile(file, kernel="flow")
    kernel = adgen.compile(file, kernel="flow", activity={"fluid": "duplicated"})
    density, speed = (rng.uniform(1, 2, 50).astype(np.float32) for _ in range(2))
    flux, cell = np.zeros(50, np.float32), rng.permutation(50).astype(np.int32)
    kernel.variables["fluid"] = {"density": density, "flux": flux, "cell": cell, "spacing": 0.5, "n": 50}
    kernel[2, 32](speed)
    np.testing.assert_allclose(flux, density[cell] * speed * 0.5, rtol=1e-5)
    d_speed, d_density, d_flux = np.zeros(50, np.float32), np.zeros(50, np.float32), np.ones(50, np.float32)
    shadows = {"speed": d_speed, "fluid": {"density": d_density, "flux": d_flux}}
    kernel.gradient[2, 32](speed, shadows=shadows)
    np.testing.assert_allclose(d_speed, density[cell] * 0.5, rtol=1e-5)
    np.testing.assert_allclose(d_density[cell], speed * 0.5, rtol=1e-5)
    assert not d_flux.any()


@pytest.mark.usefixtures("toolchain")
def test_a_pointer_to_const_is_verified(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = adgen.compile(file, kernel="raised", verify="always", modes=["forward"])
    args = _arrays(np.random.default_rng())
    heights = np.random.default_rng().uniform(1, 2, 50).astype(np.float32)
    kernel.variables["heights"] = heights
    found = kernel.vjp[2, 32](**args, cotangents={"y": np.ones(50, np.float32)})
    np.testing.assert_allclose(found["x"], heights[::-1], rtol=1e-5)
    assert "not verified" not in capsys.readouterr().err
    pattern = kernel.sparsity[2, 32](**args, of="y", wrt="x")
    assert (pattern.toarray() == np.eye(50)).all()


@pytest.mark.usefixtures("toolchain")
def test_what_a_variable_leads_to_is_not_changed_by_verifying(file: Path) -> None:
    kernel = adgen.compile(file, kernel="stepped", activity={"state": "duplicated"}, cache=False)
    rng = np.random.default_rng()
    x, state = (rng.uniform(1, 2, 50).astype(np.float32) for _ in range(2))
    before = state.copy()
    kernel.variables["state"] = state
    shadows = {"x": np.zeros(50, np.float32), "state": np.ones(50, np.float32)}
    kernel.gradient[2, 32](x, 50, shadows=shadows)
    np.testing.assert_allclose(shadows["x"], before**2, rtol=1e-5)
    np.testing.assert_allclose(shadows["state"], 2 * before * x, rtol=1e-5)


@pytest.mark.usefixtures("toolchain")
def test_an_array_of_pointers_is_set_with_a_list(file: Path) -> None:
    kernel = adgen.compile(file, kernel="layered", activity={"layers": "duplicated"})
    rng = np.random.default_rng()
    x, below, above = (rng.uniform(1, 2, 50).astype(np.float32) for _ in range(3))
    for wrong in (below, [below]):
        with pytest.raises(adgen.ArgumentError, match="give a list of 2 arrays"):
            kernel.variables["layers"] = wrong
    kernel.variables["layers"] = [below, above]
    kernel[2, 32](x, 50)
    np.testing.assert_array_equal(above, below * x)
    d_x, d_below, d_above = np.zeros(50, np.float32), np.zeros(50, np.float32), np.ones(50, np.float32)
    kernel.gradient[2, 32](x, 50, shadows={"x": d_x, "layers": [d_below, d_above]})
    np.testing.assert_array_equal(d_x, below)
    np.testing.assert_array_equal(d_below, x)
    assert not d_above.any()


def test_a_check_begins_each_time_with_the_same_variables(file: Path) -> None:
    k = adgen.compile(file, kernel="from_a_queue")
    x = np.random.default_rng().uniform(0.5, 1.5, 24).astype(np.float32)
    (found,) = k.check[2, 4](x, np.zeros(24, np.float32), 6).parameters
    assert found.gradient != 0
    assert k.variables["next_row"] == 0
