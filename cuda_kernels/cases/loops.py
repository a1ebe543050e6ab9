"""Loops of every kind inside a thread: fixed, nested, ended by data, over local arrays, recursive."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import F32, F64, Floats, Ints, Rng, integers, normal, uniform, zeros


def _logistic(x0: Floats, rate: Floats, out: Floats, n: int, steps: int) -> None:
    x = x0.copy()
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    out[:n] = x


def _logistic_args(rng: Rng, dtype: type) -> Args:
    arrays = {"x0": uniform(rng, 0.1, 0.9, 100, dtype=dtype), "rate": uniform(rng, 1.5, 2.9, 100, dtype=dtype)}
    return {**arrays, "out": zeros(100, dtype=dtype), "n": 100, "steps": int(rng.integers(1, 60))}


def _conv_power(signal: Floats, taps: Floats, out: Floats, n: int, ntaps: int, rounds: int) -> None:
    padded = np.pad(signal, (ntaps // 2, ntaps - 1 - ntaps // 2))
    acc = np.correlate(padded, taps, "valid")
    out[:n] = np.prod([1.0 + acc / (r + 1) for r in range(rounds)], axis=0)


def _conv_power_args(rng: Rng) -> Args:
    arrays = {"signal": normal(rng, 100, dtype=F64), "taps": normal(rng, 5, dtype=F64), "out": zeros(100, dtype=F64)}
    return {**arrays, "n": 100, "ntaps": 5, "rounds": 3}


def _kepler(mean_anomaly: Floats, eccentricity: Floats, eccentric_anomaly: Floats, n: int) -> None:
    for i in range(n):
        m, e = mean_anomaly[i], eccentricity[i]
        found = m
        residual = found - e * np.sin(found) - m
        while abs(residual) > 1e-11:  # noqa: PLR2004, as in the kernel
            found = found - residual / (1.0 - e * np.cos(found))
            residual = found - e * np.sin(found) - m
        eccentric_anomaly[i] = found


def _kepler_args(rng: Rng) -> Args:
    arrays = {
        "mean_anomaly": uniform(rng, 0.3, 6.0, 60, dtype=F64),
        "eccentricity": uniform(rng, 0.05, 0.7, 60, dtype=F64),
    }
    return {**arrays, "eccentric_anomaly": zeros(60, dtype=F64), "n": 60}


def _bezier(control: Floats, t: Floats, out: Floats, n: int) -> None:
    points = [c * (1.0 + 0.1 * t) for c in control]
    for last in range(len(points) - 1, 0, -1):
        points = [points[k] * (1.0 - t) + points[k + 1] * t for k in range(last)]
    out[:n] = points[0]


def _bezier_args(rng: Rng) -> Args:
    arrays = {"control": normal(rng, 6, dtype=F64), "t": uniform(rng, 0.0, 1.0, 80, dtype=F64)}
    return {**arrays, "out": zeros(80, dtype=F64), "n": 80}


def _expand(x: Floats, coefficient: Floats, y: Floats, n: int, orders: int) -> None:
    y[:n] = np.polynomial.legendre.legval(x, coefficient[:orders])


def _expand_args(rng: Rng) -> Args:
    arrays = {"x": uniform(rng, -1.0, 1.0, 64, dtype=F64), "coefficient": normal(rng, 5, dtype=F64)}
    return {**arrays, "y": zeros(64, dtype=F64), "n": 64, "orders": 5}


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def _quadrature(upper: Floats, rate: Floats, integral: Floats, n: int) -> None:
    half = 0.5 * upper
    terms = [w * np.exp(-rate * (half * (1.0 + x)) ** 2) for x, w in zip(_NODES, _WEIGHTS, strict=True)]
    integral[:n] = half * np.sum(terms, axis=0)


def _quadrature_args(rng: Rng) -> Args:
    arrays = {"upper": uniform(rng, 0.5, 2.0, 70, dtype=F64), "rate": uniform(rng, 0.2, 1.5, 70, dtype=F64)}
    return {**arrays, "integral": zeros(70, dtype=F64), "n": 70}


def _pendulum(
    angle: Floats, speed: Floats, damping: Floats, final_angle: Floats, n: int, steps: int, h: Floats
) -> None:
    state = np.stack([angle, speed])
    for step in range(steps):
        drive = 0.3 * np.cos(0.7 * step * h)

        def slope(s: Floats, drive: Floats = drive) -> Floats:
            return np.stack([s[1], -np.sin(s[0]) - damping * s[1] + drive])

        k1 = slope(state)
        k2 = slope(state + 0.5 * h * k1)
        k3 = slope(state + 0.5 * h * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    final_angle[:n] = state[0]


def _pendulum_args(rng: Rng) -> Args:
    arrays = {name: normal(rng, 50, dtype=F64) for name in ("angle", "speed")}
    arrays |= {"damping": uniform(rng, 0.0, 0.5, 50, dtype=F64), "final_angle": zeros(50, dtype=F64)}
    return {**arrays, "n": 50, "steps": 12, "h": 0.1}


def _csr_product(rows: int, row_start: Ints, column: Ints, value: Floats, x: Floats, y: Floats) -> None:
    for row in range(rows):
        entries = slice(row_start[row], row_start[row + 1])
        y[row] = value[entries] @ x[column[entries]]


def _csr_args(rng: Rng) -> Args:
    rows = 60
    row_start = np.concatenate([[0], np.cumsum(rng.integers(0, 6, rows))]).astype(np.int32)
    count = int(row_start[-1])
    arrays = {"row_start": row_start, "column": integers(rng, 0, 40, count), "value": normal(rng, count, dtype=F64)}
    return {"rows": rows, **arrays, "x": normal(rng, 40, dtype=F64), "y": zeros(rows, dtype=F64)}


def _cross_entropy(logits: Floats, label: Ints, loss: Floats, rows: int, classes: int) -> None:
    table = logits.reshape(rows, classes)
    loss[:] = np.log(np.exp(table).sum(axis=1)) - table[np.arange(rows), label]


def _cross_entropy_args(rng: Rng) -> Args:
    arrays = {"logits": normal(rng, 50, 7), "label": integers(rng, 0, 7, 50), "loss": zeros(50)}
    return {**arrays, "rows": 50, "classes": 7}


def _julia(re: Floats, im: Floats, c: Floats, out: Floats, n: int, rounds: int) -> None:
    z, shift = re + 1j * im, c[0] + 1j * c[1]
    for _ in range(rounds):
        z = np.where(np.abs(z) < 2.0, z * z + shift, z)  # noqa: PLR2004, as in the kernel
    out[:n] = np.abs(z) ** 2


def _julia_args(rng: Rng) -> Args:
    """Radii from which a point escapes never, at once, or after one round, whatever the rounding."""
    radius = rng.choice([0.3, 1.65, 2.5], 90) + rng.uniform(-0.05, 0.05, 90)
    angle = rng.uniform(0.0, 2.0 * np.pi, 90)
    arrays = {"re": radius * np.cos(angle), "im": radius * np.sin(angle), "c": uniform(rng, -0.1, 0.1, 2, dtype=F64)}
    return {**arrays, "out": zeros(90, dtype=F64), "n": 90, "rounds": 5}


def _gaussians(seed: int, paths: int, steps: int) -> Floats:
    """The kernel's own generator, one row a step."""
    words = 2**32
    state = (seed ^ ((np.arange(paths, dtype=np.int64) * 747796405 + 2891336453) % words)) % words

    def uniforms() -> Floats:
        nonlocal state
        state = (state ^ (state << 13)) % words
        state = state ^ (state >> 17)
        state = (state ^ (state << 5)) % words
        return np.asarray((state >> 8) / 16777216.0 + 2e-8)

    return np.stack([np.sqrt(-2.0 * np.log(uniforms())) * np.cos(2.0 * np.pi * uniforms()) for _ in range(steps)])


def _averages(spot: Floats, vol: Floats, seed: int, paths: int, steps: int) -> Floats:
    dt = 1.0 / steps
    growth = -0.5 * vol * vol * dt + vol * np.sqrt(dt) * _gaussians(seed, paths, steps)
    return np.asarray((spot * np.exp(np.cumsum(growth, axis=0))).mean(axis=0))


def _asian_payoff(spot: Floats, vol: Floats, payoff: Floats, seed: int, paths: int, steps: int, strike: Floats) -> None:
    payoff[:paths] = np.maximum(_averages(spot, vol, seed, paths, steps) - strike, 0.0)


def _asian_args(rng: Rng) -> Args:
    """Draws again until no path ends near the strike, where the payoff has its kink."""
    spot, vol = np.array([100.0], np.float32), np.array([0.2], np.float32)
    paths, steps, strike = 80, 6, 100.0
    while True:
        seed = int(rng.integers(2**31))
        if np.min(np.abs(_averages(spot.astype(F64), vol.astype(F64), seed, paths, steps) - strike)) > 0.01:  # noqa: PLR2004
            break
    arrays = {"spot": spot, "vol": vol, "payoff": zeros(paths)}
    return {**arrays, "seed": seed, "paths": paths, "steps": steps, "strike": np.float32(strike)}


def _row_norms(matrix: Floats, norm: Floats, rows: int) -> None:
    norm[:rows] = np.sqrt((matrix**2).sum(axis=1))


_RECURRENCES = (
    Case("recurrence.cu", "logistic", partial(_logistic_args, dtype=F64), _logistic, grid=4, block=32),
    Case("recurrence.cu", "logistic_float", partial(_logistic_args, dtype=F32), _logistic, grid=4, block=32),
)

CASES = (
    *_RECURRENCES,
    *(replace(case, activity={"x0": "fresh", "rate": "fresh", "out": "discarded"}) for case in _RECURRENCES),
    Case("nested_loops.cu", "conv_power", _conv_power_args, _conv_power, grid=4, block=32),
    Case("kepler.cu", "kepler", _kepler_args, _kepler, grid=2, block=32),
    Case("local_array.cu", "bezier", _bezier_args, _bezier, grid=3, block=32),
    Case("recursion.cu", "expand", _expand_args, _expand, grid=2, block=32),
    Case("constant_table.cu", "quadrature", _quadrature_args, _quadrature, grid=3, block=32),
    Case("pendulum.cu", "pendulum", _pendulum_args, _pendulum, grid=2, block=32),
    Case("csr_product.cu", "csr_product<int, double>", _csr_args, _csr_product, grid=2, block=32),
    Case("softmax_loss.cu", "cross_entropy", _cross_entropy_args, _cross_entropy, grid=2, block=32),
    Case("complex_numbers.cu", "julia", _julia_args, _julia, grid=3, block=32),
    Case("monte_carlo.cu", "asian_payoff", _asian_args, _asian_payoff, grid=3, block=32, slack=3.0),
    Case(
        "row_pointers.cu",
        "row_norms",
        lambda rng: {"matrix": normal(rng, 40, 8), "norm": zeros(40), "rows": 40},
        _row_norms,
        grid=2,
        block=32,
    ),
)
