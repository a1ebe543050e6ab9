"""Variables of the device on a GPU: set, read, and their derivative."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from openmp.test_variables import SOURCE

import enzyme_driver as adgen

cupy = pytest.importorskip("cupy")


@pytest.mark.usefixtures("toolchain")
def test_variables(tmp_path: Path) -> None:
    file = tmp_path / "variables.cu"
    file.write_text(SOURCE, encoding="utf-8")
    rng = np.random.default_rng()
    kernel = adgen.compile(file, kernel="filter", target="cuda", activity={"scheme::weight": "active"})
    weight = rng.uniform(1, 2, (2, 3)).astype(np.float32)
    kernel.variables["scheme::weight"] = weight
    kernel.variables["gain"] = 0.5
    assert np.array_equal(kernel.variables["scheme::weight"], weight)
    x, y = cupy.asarray(rng.uniform(1, 2, 50).astype(np.float32)), cupy.zeros(50, np.float32)
    kernel[2, 32](x, y, 50)
    i = np.arange(50)
    np.testing.assert_allclose(cupy.asnumpy(y), cupy.asnumpy(x) ** 2 * weight[i % 2, i % 3] * 0.5, rtol=1e-5)
    assert kernel.variables["calls"] == 50
    kernel.check[2, 32](x, y, 50)


@pytest.mark.usefixtures("toolchain")
def test_a_struct_of_pointers(tmp_path: Path) -> None:
    file = tmp_path / "variables.cu"
    file.write_text(SOURCE, encoding="utf-8")
    kernel = adgen.compile(file, kernel="flow", target="cuda", activity={"fluid": "duplicated"})
    density, speed = (cupy.random.uniform(1, 2, 50).astype(np.float32) for _ in range(2))
    flux, cell = cupy.zeros(50, np.float32), cupy.arange(50, dtype=np.int32)
    kernel.variables["fluid"] = {"density": density, "flux": flux, "cell": cell, "spacing": 0.5, "n": 50}
    d_speed, d_density, d_flux = cupy.zeros(50, np.float32), cupy.zeros(50, np.float32), cupy.ones(50, np.float32)
    kernel.gradient[2, 32](speed, shadows={"speed": d_speed, "fluid": {"density": d_density, "flux": d_flux}})
    np.testing.assert_allclose(cupy.asnumpy(d_speed), cupy.asnumpy(density) * 0.5, rtol=1e-5)
    np.testing.assert_allclose(cupy.asnumpy(d_density), cupy.asnumpy(speed) * 0.5, rtol=1e-5)
