"""What users say of functions: inactive ones, and gradients of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import pipeline, request
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain

pytestmark = pytest.mark.usefixtures("toolchain")

FOLDER = Path(__file__).parent
KERNELS = FOLDER / "user_rules.cu"
STEEP = {"steep": "twice_the_gradient_of_steep"}
NOTED = ["debug::noted"]


def values(dtype: type, size: int = 16) -> Any:  # noqa: ANN401
    return np.random.default_rng().uniform(0.5, 2.0, size).astype(dtype)


def test_an_own_gradient_and_an_inactive_function_in_both_modes() -> None:
    k = adgen.compile(KERNELS, kernel="uses", inactive=NOTED, derivatives=STEEP, modes=["forward"])
    x, y, w, dx, dy = (values(np.float32) for _ in range(5))
    z = np.zeros(16, np.float32)
    k[1, 16](x, y, z)
    np.testing.assert_allclose(z, x * x * y + 3 * x * y, rtol=1e-6)
    found = k.vjp[1, 16](x, y, z, cotangents={"z": w}, wrt=["x", "y"])
    np.testing.assert_allclose(found["x"], 4 * x * y * w, rtol=1e-5)
    np.testing.assert_allclose(found["y"], (2 * x * x + 3 * x) * w, rtol=1e-5)
    carried = k.jvp[1, 16](x, y, z, tangents={"x": dx, "y": dy})
    np.testing.assert_allclose(carried["z"], 4 * x * y * dx + (2 * x * x + 3 * x) * dy, rtol=1e-5)


def test_without_them_functions_are_differentiated() -> None:
    x = values(np.float64)
    f = adgen.compile(FOLDER / "user_rules.cpp", function="total")
    np.testing.assert_allclose(f.vjp(x, 16)["x"], 2 * x + np.floor(x) + 0.5 * x, rtol=1e-12)


def test_in_cpp() -> None:
    f = adgen.compile(
        FOLDER / "user_rules.cpp", function="total", inactive=["level"], derivatives=STEEP, modes=["forward"]
    )
    x, dx = values(np.float64), values(np.float64)
    level = np.floor(x) + 0.25 * x
    assert f(x, 16) == pytest.approx((x * x + level * x).sum())
    np.testing.assert_allclose(f.vjp(x, 16)["x"], 4 * x + level, rtol=1e-12)
    assert f.jvp(x, 16, tangents={"x": dx})["return"] == pytest.approx(((4 * x + level) * dx).sum())


def test_what_has_no_derivative_gets_one_also_for_the_gpu(tmp_path: Path, machine_settings: Settings) -> None:
    rules = {"hard": "gradient_of_hard"}
    wanted = request.new(KERNELS, names=["roots"], targets=["cuda"], derivatives=rules, modes=["forward"])
    made = pipeline.build(wanted, tmp_path / "made", settings=machine_settings)
    (entry,) = made.entries
    assert entry.targets["cuda"].gradient
    assert entry.forward["cuda"].gradient
    assert made.manifest.options.derivatives == rules


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"inactive": ["noted"]}, "there is no function 'noted'"),
        ({"derivatives": {"steep": "gradient_of_hard"}}, "'gradient_of_hard' cannot be the gradient of 'steep'"),
        ({"derivatives": {"steep": "absent"}}, "there is no function 'absent'"),
    ],
)
def test_what_does_not_fit_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(adgen.RefusedError, match=message):
        adgen.compile(KERNELS, kernel="uses", **said)


def test_macros_in_cuda() -> None:
    k = adgen.compile(FOLDER / "annotated.cu", kernel="each", modes=["forward"])
    x, y, w = values(np.float64), np.zeros(16), values(np.float64)
    k[1, 16](x, y, 16)
    np.testing.assert_allclose(y, 3 * x + 2 * x * x, rtol=1e-12)
    expected = (7 + 2 * x) * w
    np.testing.assert_allclose(k.vjp[1, 16](x, y, 16, cotangents={"y": w})["x"], expected, rtol=1e-12)
    np.testing.assert_allclose(k.jvp[1, 16](x, y, 16, tangents={"x": w})["y"], expected, rtol=1e-12)


def test_macros_in_cpp() -> None:
    f = adgen.compile(FOLDER / "annotated.cpp", function="total")
    x = values(np.float64)
    assert f(x, 16) == pytest.approx((3 * x + 2 * x * x).sum())
    np.testing.assert_allclose(f.vjp(x, 16)["x"], 7 + 2 * x, rtol=1e-12)


def test_macros_for_the_gpu(tmp_path: Path, machine_settings: Settings) -> None:
    wanted = request.new(FOLDER / "annotated.cu", names=["each"], targets=["cuda"])
    (entry,) = pipeline.build(wanted, tmp_path / "made", settings=machine_settings).entries
    assert entry.targets["cuda"].gradient


def test_macros_that_name_no_function(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cpp"
    file.write_text(
        "#include <adgen.h>\nADGEN_GRADIENT(absent) double f(double x) { return x; }\n"
        "double g(double *x) { return f(x[0]); }\n"
    )
    with pytest.raises(adgen.RefusedError, match="there is no function 'absent'"):
        adgen.compile(file)


def test_other_compilers_see_nothing_of_the_macros(tmp_path: Path, toolchain: Toolchain) -> None:
    include = Path(adgen.__file__).parent / "include"
    clang: list[str | Path] = [toolchain.clang.prefix / "bin" / "clang++", *toolchain.compile_flags]
    argv = [*clang, "-Wall", "-Werror", "-fsyntax-only", f"-I{include}", str(FOLDER / "annotated.cpp")]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
