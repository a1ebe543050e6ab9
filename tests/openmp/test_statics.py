"""Variables that keep what a call leaves in them: a gradient takes it as it is, whatever gradients came before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import enzyme_driver as adgen

KEPT = """\
static double kept[2];
double decays(const double *x) {
    const double before = kept[1];
    kept[0] = 0.5 * kept[1] + x[0];
    kept[1] = kept[0] * x[1];
    return kept[1] * kept[1] + before;
}
double summed(const double *x, int n) {
    static double bins[4];
    for (int i = 0; i < n; ++i) bins[i % 4] += bins[(i + 1) % 4] * 0.5 + x[i];
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += bins[i] * bins[i];
    for (int i = 0; i < 4; ++i) bins[i] = 0;
    return sum;
}
"""
EARLIER = """\
static double *work;
double first(const double *x, int n) {
    if (!work) work = new double[100]();
    for (int i = 0; i < n; ++i) work[i] += x[i] * x[i];
    return work[0];
}
"""
OF_THREADS = """\
static double own;
#pragma omp threadprivate(own)
double squares(const double *x, int n, int threads) {
    double sum = 0;
    #pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        own = 0;
        #pragma omp for
        for (int i = 0; i < n; ++i) own += x[i];
        sum += own * own;
    }
    return sum;
}
"""


@pytest.mark.usefixtures("toolchain")
def test_gradients_begin_without_cotangents_of_earlier_ones(tmp_path: Path) -> None:
    file = tmp_path / "kept.cpp"
    file.write_text(KEPT, encoding="utf-8")
    function = adgen.compile(file).decays
    x, second = np.array([0.7, 1.3]), 0.0
    for _ in range(3):
        first = 0.5 * second + x[0]
        expected = 2 * first * x[1] * np.array([x[1], first])
        np.testing.assert_allclose(function.vjp(x)["x"], expected)
        second = first * x[1]


@pytest.mark.usefixtures("toolchain")
def test_a_static_array_is_read_and_written_and_cleared(tmp_path: Path) -> None:
    file = tmp_path / "kept.cpp"
    file.write_text(KEPT, encoding="utf-8")
    function = adgen.compile(file).summed
    for _ in range(2):
        assert function.check(np.random.default_rng().uniform(0.5, 1.5, 9), 9).parameters[0].difference


@pytest.mark.usefixtures("toolchain")
def test_memory_of_an_earlier_call_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "earlier.cpp"
    file.write_text(EARLIER, encoding="utf-8")
    with pytest.raises(adgen.RefusedError, match="variable 'work' keeps from an earlier call") as caught:
        adgen.compile(file, function="first").vjp(np.ones(3), 3)
    assert caught.value.location is not None
    assert caught.value.location.line == 2


@pytest.mark.usefixtures("toolchain")
def test_too_many_threads_for_their_variables_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "own.cpp"
    file.write_text(OF_THREADS, encoding="utf-8")
    function = adgen.compile(file).squares
    x = np.random.default_rng().uniform(0.5, 1.5, 8)
    np.testing.assert_allclose(function.vjp(x, 8, 2)["x"], 2 * np.repeat([x[:4].sum(), x[4:].sum()], 4))
    with pytest.raises(adgen.PrimalError, match="memory for 512 threads"):
        function.vjp(x, 8, 600)
    np.testing.assert_allclose(function.vjp(x, 8, 1)["x"], 2 * x.sum())
