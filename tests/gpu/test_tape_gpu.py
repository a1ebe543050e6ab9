"""A tape of launches on a GPU: arrays of every library, streams, a memory limit."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_support import Arrays

import enzyme_driver as adgen
from enzyme_driver.runtime.module import Module

COUNT, LAUNCHES, LAUNCH = 1000, 12, (4, 256)
BYTES = 4 * COUNT
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]


def expected(scales: Vector, u: Vector, v: Vector, weights: Vector) -> tuple[Vector, Vector, Vector]:
    """The derivatives of `weights @ u` with respect to u, v and the scales, where v += a u and u += a v take turns."""
    states = [(u, v)]
    for a in scales:
        u, v = v + a * u, u  # the array written last comes first
        states.append((u, v))
    du, dv = weights, np.zeros_like(weights)
    d_scales = np.zeros(len(scales))
    for step in reversed(range(len(scales))):
        d_scales[step] = du @ states[step][0]
        du, dv = dv + scales[step] * du, du
    return du, dv, d_scales


@pytest.mark.parametrize("limit", [None, 4 * BYTES])
@pytest.mark.parametrize("explicit", [False, True])
def test_gradient_through_launches(module: Module, arrays: Arrays, explicit: bool, limit: int | None) -> None:
    random = np.random.default_rng()
    u, v, weights = (random.uniform(-1, 1, COUNT).astype(np.float32) for _ in range(3))
    scales = random.uniform(-0.5, 0.5, LAUNCHES)
    first, second, cotangent = map(arrays.make, (u, v, weights))
    arrays.synchronize()
    stream = arrays.stream()
    key = (*LAUNCH, stream) if explicit else LAUNCH
    source, target = first, second
    with adgen.Tape(memory_limit=limit) as tape:
        for a in scales:
            module.axpy[key](COUNT, a, source, target)
            source, target = target, source
    d_first, d_second, d_scales = tape.gradient(
        source, (first, second, "a"), cotangent, stream=stream if explicit else None
    )
    stream.synchronize()
    arrays.synchronize()
    assert type(d_first) is type(first)
    assert (tape.recomputed > 0) == (limit is not None)
    assert tape.peak_bytes <= (limit or LAUNCHES * BYTES)
    end = arrays.host(source).astype(np.float64)
    wanted = expected(scales, u.astype(np.float64), v.astype(np.float64), weights.astype(np.float64))
    for got, good in zip((arrays.host(d_first), arrays.host(d_second), d_scales), wanted, strict=True):
        np.testing.assert_allclose(got, good, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(arrays.host(source).astype(np.float64), end)


def test_zero(module: Module, arrays: Arrays) -> None:
    x, y = (arrays.make(np.full(COUNT, value, np.float32)) for value in (3, 5))
    with adgen.Tape() as tape:
        tape.zero(y)
        module.axpy[LAUNCH](COUNT, 2.0, x, y)
    np.testing.assert_array_equal(arrays.host(y), 6)
    d_x, d_y = tape.gradient(y, (x, y), arrays.make(np.ones(COUNT, np.float32)))
    np.testing.assert_array_equal(arrays.host(d_x), 2)
    np.testing.assert_array_equal(arrays.host(d_y), 0)
