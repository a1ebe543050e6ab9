"""Chains of Jacobians on the host, and steps differentiated through all their steps at once, against the linear way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import enzyme_driver as adgen
from enzyme_driver import scan
from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.scan.chain import ORDERS

pytestmark = [pytest.mark.openmp, pytest.mark.usefixtures("toolchain")]
ROOT = Path(__file__).resolve().parents[2]
CHAINS = ROOT / "benchmarks" / "chains"
Array = np.ndarray[Any, Any]


def _launch(samples: int) -> tuple[int, int]:
    return -(-samples // 64), 64


def _linear(jacobians: Array, last: Array, direct: Array | None) -> Array:
    found = [last.astype(np.float64)]
    for step in reversed(range(len(jacobians))):
        back = np.einsum("bij,bi->bj", jacobians[step].astype(np.float64), found[-1])
        found.append(back if direct is None else back + direct[step])
    return np.array(found[::-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize(("steps", "batch", "size"), [(1, 1, 1), (17, 3, 5), (100, 2, 20), (33, 1, 40)])
def test_the_scan_is_the_linear_way(dtype: Any, direct: bool, steps: int, batch: int, size: int) -> None:  # noqa: ANN401
    rng = np.random.default_rng(steps)
    entries = (rng.standard_normal((steps, batch, size, size)) / np.sqrt(size)).astype(dtype)
    last = rng.standard_normal((batch, size)).astype(dtype)
    own = rng.standard_normal((steps, batch, size)).astype(dtype) if direct else None
    wanted = _linear(entries, last, own)
    for order in ORDERS:
        given = np.ascontiguousarray(entries.transpose(order)).transpose(np.argsort(order))
        for chunks in ((), (4,), (3, 2), (steps,), (7, 100)):
            found = scan.cotangents(given, last, direct=own, chunks=chunks, check=True)
            assert found.dtype == dtype
            assert np.abs(found - wanted).max() <= 50 * np.finfo(dtype).eps * np.abs(wanted).max()


def test_a_number_that_is_not_finite_is_named_by_step() -> None:
    jacobians = np.ones((9, 2, 3, 3))
    jacobians[5, 1, 0, 2] = np.nan
    with pytest.raises(CheckFailedError, match="Jacobian of step 5, sample 1"):
        scan.cotangents(jacobians, np.ones((2, 3)), check=True)


@pytest.fixture(scope="module")
def robertson() -> scan.Recurrence:
    return scan.recurrence(
        CHAINS / "robertson.cu", "robertson_step", state="state", following="next", samples="trajectories"
    )


def _trajectory(step: scan.Recurrence, steps: int) -> tuple[Array, dict[str, Any]]:
    states, named = np.zeros((steps + 1, 1, 3)), {"rates": np.array([0.04, 3e7, 1e4]), "h": 0.01, "trajectories": 1}
    states[0, 0, 0] = 1
    step.run(_launch, states, **named)
    return states, named


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("method", ["scan", "linear"])
def test_an_ode_against_the_gradient_of_its_loop(robertson: scan.Recurrence, folded: bool, method: str) -> None:
    step, steps, weights = (
        replace(robertson, samples="trajectories" if folded else None),
        90,
        np.array([1.0, -2e3, 0.5]),
    )
    states, named = _trajectory(step, steps)
    found = step.vjp(_launch, states, weights[None], wrt="rates", method=method, check=True, **named)
    loop = adgen.compile(CHAINS / "robertson.cu", kernel="robertson_run")
    args = (states[0, 0].copy(), named["rates"], named["h"], np.zeros(3), steps)
    wanted = loop.vjp[1, 1](*args, cotangents={"last": weights}, wrt=("start", "rates"))
    np.testing.assert_allclose(found["rates"], wanted["rates"], rtol=1e-10)
    np.testing.assert_allclose(found["state"][0, 0], wanted["start"], rtol=1e-10)


def test_no_step_at_all(robertson: scan.Recurrence) -> None:
    states, named = _trajectory(robertson, 0)
    found = robertson.vjp(_launch, states, np.ones((1, 3)), wrt="rates", **named)
    assert (found["state"] == 1).all()
    assert not found["rates"].any()


def test_what_a_step_does_not_take(robertson: scan.Recurrence) -> None:
    states, named = _trajectory(robertson, 2)
    with pytest.raises(ArgumentError, match="beside its states the step takes rates, h, trajectories"):
        robertson.jacobians(_launch, states, rates=named["rates"])
    with pytest.raises(ArgumentError, match="wrt 'state'"):
        robertson.vjp(_launch, states, np.ones((1, 3)), wrt="state", **named)
    with pytest.raises(ArgumentError, match=r"not \[steps \+ 1, batch, size\]"):
        robertson.jacobians(_launch, states[:, 0], **named)


def test_a_filter_against_differences() -> None:
    step = scan.recurrence(
        CHAINS / "kalman.cu", "kalman_step", state="state", following="next", per_step=["measured"], samples="tracks"
    )
    rng, steps, tracks = np.random.default_rng(1), 60, 3
    states, measured = np.zeros((steps + 1, tracks, 6)), np.cumsum(rng.standard_normal((steps, tracks)), 0)
    states[0, :, 2] = states[0, :, 4] = 1

    def loss(noise: Array, seen: Array) -> float:
        step.run(_launch, states, noise=noise, measured=seen, tracks=tracks)
        return float(states[-1, :, 5].sum())

    noise, last = np.array([0.1, 0.5]), np.zeros((tracks, 6))
    last[:, 5] = 1
    loss(noise, measured)
    named: dict[str, Any] = {"noise": noise, "measured": measured, "tracks": tracks}
    found = step.vjp(_launch, states, last, wrt=("noise", "measured"), method="scan", **named)
    for direction in np.eye(2) * 1e-6:
        difference = (loss(noise + direction, measured) - loss(noise - direction, measured)) / 2
        assert difference == pytest.approx(float(found["noise"] @ direction), rel=1e-6)
    direction = 1e-5 * rng.standard_normal(measured.shape)
    difference = (loss(noise, measured + direction) - loss(noise, measured - direction)) / 2
    assert difference == pytest.approx(float((found["measured"] * direction).sum()), rel=1e-6)


def test_samples_that_depend_on_each_other_are_found(tmp_path: Path) -> None:
    source = tmp_path / "coupled.cu"
    source.write_text(
        "__global__ void step(const double *s, double *t, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) t[i] = sin(s[i]) * s[(i + 1) % n];\n}\n"
    )
    step = scan.recurrence(source, "step", state="s", following="t")
    states = np.linspace(0.5, 1.0, 8).reshape(2, 4, 1).copy()
    step.run(_launch, states, n=4)
    with pytest.raises(CheckFailedError, match="step 0: the Jacobian of a sample is not all"):
        step.vjp(_launch, states, np.ones((4, 1)), check=True, n=4)


def test_a_step_that_reads_what_it_wrote_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "reads.cu"
    source.write_text("__global__ void step(const double *s, double *t) { t[0] += s[0] * s[0]; }\n")
    with pytest.raises(ArgumentError, match="step reads 't', which it writes"):
        scan.recurrence(source, "step", state="s", following="t")
    with pytest.raises(ArgumentError, match="no parameter 'u'"):
        scan.recurrence(source, "step", state="u", following="t")
