"""What the gradient of a recursion keeps: very many small blocks, which lie in spans that each thread has."""

from __future__ import annotations

import ctypes
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen
from benchmarks.host_adjoints import SOURCE
from enzyme_driver import resources
from enzyme_driver.command import run
from enzyme_driver.runtime.function import Function
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import ensure, packages

pytestmark = pytest.mark.usefixtures("toolchain")

PARALLEL = """
static double minors(const double *m, int n, int row, unsigned columns) {
  if (row == n)
    return 1;
  double sum = 0, sign = 1;
  for (int j = 0; j < n; j++)
    if (columns >> j & 1) {
      sum += sign * m[row * n + j] * minors(m, n, row + 1, columns & ~(1u << j));
      sign = -sign;
    }
  return sum;
}
double determinants(const double *matrices, int count, int n) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < count; i++)
    sum += minors(matrices + i * n * n, n, 0, (1u << n) - 1);
  return sum;
}
"""

UNTIL = """
#include <cmath>
double until(const double *x, const double *limits, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double y = x[i];
    while (y > limits[i])
      y = std::sin(y);
    sum += y;
  }
  return sum;
}
"""


def cofactors(matrices: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.det(matrices)[..., None, None] * np.swapaxes(np.linalg.inv(matrices), -1, -2)
    return found


@pytest.fixture(scope="module")
def determinant() -> Function:
    return adgen.compile(SOURCE, function="determinant", verify="never")


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_determinant_by_minors(determinant: Function, n: int) -> None:
    matrix = np.random.default_rng(n).standard_normal((n, n))
    np.testing.assert_allclose(determinant.vjp(matrix, n)["matrix"], cofactors(matrix), rtol=1e-9, atol=1e-12)


def test_threads_of_python(determinant: Function) -> None:
    """Which end, and whose blocks others take."""
    matrices = np.random.default_rng(1).standard_normal((40, 5, 5))
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda matrix: determinant.vjp(matrix, 5)["matrix"], matrices))
        np.testing.assert_allclose(found, cofactors(matrices), rtol=1e-9, atol=1e-12)


def test_memory_is_used_again(determinant: Function) -> None:
    matrix = np.random.default_rng(2).standard_normal((7, 7))
    for _ in range(5):
        determinant.vjp(matrix, 7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        determinant.vjp(matrix, 7)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB


def test_threads_of_openmp(tmp_path: Path) -> None:
    path = tmp_path / "determinants.cpp"
    path.write_text(PARALLEL, encoding="utf-8")
    function = adgen.compile(path, function="determinants", verify="never")
    matrices = np.random.default_rng(3).standard_normal((50, 5, 5))
    for threads in (1, 3):
        with adgen.threads(threads):
            found = function.vjp(matrices, 50, 5)["matrices"]
        np.testing.assert_allclose(found, cofactors(matrices), rtol=1e-9, atol=1e-12)


class Blocks:
    """The runtime's functions for small blocks."""

    def __init__(self, library: Path) -> None:
        loaded = ctypes.CDLL(str(library))
        self.take, self.give = loaded["_Z9takeSmallm"], loaded["_Z9giveSmallPv"]
        self.take.restype, self.take.argtypes = ctypes.c_void_p, [ctypes.c_uint64]
        self.give.restype, self.give.argtypes = ctypes.c_bool, [ctypes.c_void_p]


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Blocks:
    room = resources.PACKAGE / "host_runtime"
    library = tmp_path_factory.mktemp("blocks") / "blocks.so"
    clang = ensure(Settings.from_environment()).clang
    found = (*packages.compile_flags(clang), *packages.link_flags(clang))
    sources = [str(room / name) for name in ("small.cpp", "large.cpp")]
    flags = ("-std=c++17", "-O2", "-fPIC", "-shared")
    done = run([str(clang.prefix / "bin" / "clang++"), *flags, *found, *sources, "-o", str(library)], timeout=120)
    assert done.ok, done.stderr
    return Blocks(library)


def in_another_thread(blocks: Blocks, addresses: list[int]) -> None:
    with ThreadPoolExecutor(1) as pool:
        assert all(pool.map(blocks.give, addresses))


@pytest.mark.parametrize("each", [64, 1024, 1536, 8192])
def test_blocks_are_taken_in_the_order_of_their_addresses_again(blocks: Blocks, each: int) -> None:
    """Whichever way they came back: else each is a line of memory that nobody has asked for ahead."""
    count = 3 * ((64 << 10) // each)
    rng = np.random.default_rng(4)
    for _ in range(3):
        taken = [blocks.take(each - 7) for _ in range(count)]
        assert len(set(taken)) == count
        assert np.sum(np.diff(taken) != each) < 4
        assert all(blocks.give(taken[place]) for place in rng.permutation(count))


def test_what_another_thread_gives_back_is_used_again(blocks: Blocks) -> None:
    each, count = 128, 4 * (64 << 10) // 128
    seen: set[int] = set()
    for _ in range(20):
        taken = [blocks.take(each) for _ in range(count)]
        assert len(set(taken)) == count
        seen.update(taken)
        in_another_thread(blocks, taken)
    assert len(seen) < 3 * count


def test_blocks_that_grow(tmp_path: Path) -> None:
    """What a loop of unknown length keeps, from one iteration to what needs a large block."""
    path = tmp_path / "until.cpp"
    path.write_text(UNTIL, encoding="utf-8")
    function = adgen.compile(path, function="until", activity={"limits": "const"}, verify="never")
    counts = np.array([0, 1, 3, 16, 17, 64, 130, 500, 20_000, 2])
    x = np.random.default_rng(5).uniform(0.9, 1.1, len(counts))
    limits, expected = np.empty_like(x), np.empty_like(x)
    for place, count in enumerate(counts):
        before, y, slope = 2.0, x[place], 1.0
        for _ in range(count):
            before, y, slope = y, np.sin(y), slope * np.cos(y)
        limits[place], expected[place] = (before + y) / 2, slope
    np.testing.assert_allclose(function.vjp(x, limits, len(x))["x"], expected, rtol=1e-9)
