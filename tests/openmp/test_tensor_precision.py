"""Products of tensors whose factors are rounded, and, on the host, the kernel that computes them on a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tensor_precision_support import SHAPES, check_product, normal

import enzyme_driver as adgen
from enzyme_driver import resources
from enzyme_driver import tensor as ad
from enzyme_driver.errors import ArgumentError, DeviceError, UsageError
from enzyme_driver.tensor import devices, launches
from enzyme_driver.tensor.devices import PRECISIONS, Precision
from enzyme_driver.tensor.rounding import rounded

TYPES: dict[str, Any] = {"half": np.float16, "float": np.float32}


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_as_exact_as_their_factors(precision: Precision, shape: tuple[int, int, int]) -> None:
    check_product("openmp", precision, shape)


def test_numbers_are_rounded_to_the_nearest() -> None:
    """Those that a format has stay, and of 2^20 others none is further away than half a step, in either direction."""
    rng = np.random.default_rng(4)
    values = np.ldexp(normal(rng, 2**20), rng.integers(-12, 12, 2**20)).astype(np.float32)
    formats: tuple[tuple[Precision, int], ...] = (("tf32", 11), ("bfloat16", 8), ("float16", 11))
    for precision, digits in formats:
        device = ad.Device("openmp", precision)
        found = rounded(device, values)
        mantissa, exponent = np.frexp(values.astype(np.float64))
        wanted = np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)
        steps = abs(np.ldexp(found - wanted, digits - exponent))
        normals = abs(values) > 2**-13  # of float16
        assert (steps[normals] == 0).mean() > 0.999  # but for ties, which tf32 rounds away from zero
        assert (abs(found - values)[normals] <= np.ldexp(0.5, exponent - digits)[normals]).all()
        assert (rounded(device, found) == found).all()
    special = np.array([[np.inf, -np.inf, np.nan, 0.0]], np.float32)
    for precision in PRECISIONS[1:]:
        np.testing.assert_array_equal(rounded(ad.Device("openmp", precision), special), special)


def test_what_is_no_float32_keeps_its_precision() -> None:
    device = ad.Device("openmp", "bfloat16")
    a, b = np.random.default_rng(5).normal(size=(2, 9, 9))
    np.testing.assert_allclose((ad.tensor(a, device) @ ad.tensor(b, device)).numpy(), a @ b, rtol=1e-12)


def test_a_gpu_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gpu(capability: str) -> SimpleNamespace:
        return SimpleNamespace(cuda=SimpleNamespace(Device=lambda: SimpleNamespace(compute_capability=capability)))

    monkeypatch.setattr(devices, "_cupy", lambda: gpu("75"))
    for precision in PRECISIONS[1:]:
        with pytest.raises(DeviceError, match=f"products in {precision} need a GPU of compute capability 8.0, .* 7.5"):
            ad.Device("cuda", precision)
    assert ad.Device("cuda").precision == "float32"
    monkeypatch.setattr(devices, "_cupy", lambda: gpu("80"))
    assert ad.Device("cuda", "tf32").precision == "tf32"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="'half' is no precision"):
        ad.Device("openmp", "half")  # type: ignore[arg-type]
    one, other = (ad.tensor([[1.0]], ad.Device("openmp", each)) for each in ("tf32", "float32"))
    with pytest.raises(ArgumentError, match=r"openmp \(tf32\), the other on openmp \(float32\)"):
        one @ other


@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("word", list(TYPES))
def test_the_kernel_of_tensor_cores(word: str, turned: tuple[bool, bool]) -> None:
    dtype, rng = TYPES[word], np.random.default_rng(8)
    size = np.dtype(dtype).itemsize
    for rows, inner, columns in SHAPES[1:3]:
        left, right = normal(rng, rows, inner).astype(dtype), normal(rng, inner, columns).astype(dtype)
        stored = [np.ascontiguousarray(each.T if on else each) for each, on in zip((left, right), turned, strict=True)]
        launch = next(iter(launches.matmul_tensor(size, turned=turned)(True, (rows, columns, inner))))
        kernel = adgen.compile(
            resources.operators() / "matmul_tensor.cu",
            kernel=launch.template.format(word),
            target="openmp",
            activity=dict.fromkeys(("a", "b", "out"), "const"),
            verify="never",
        )
        out = np.full((rows, columns), np.nan, np.float32)
        kernel[launch.grid, launch.block, None, launch.shared](*stored, out, rows, columns, inner)
        wanted = left.astype(np.float64) @ right.astype(np.float64)
        assert abs(out - wanted).max() <= 2e-3 * abs(wanted).max()
