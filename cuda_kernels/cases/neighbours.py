"""Threads that read or add where others do: gather, scatter, stencils, all pairs."""

from __future__ import annotations

import numpy as np

from cuda_kernels.case import Args, Case
from cuda_kernels.draw import Floats, Ints, Rng, integers, normal, uniform, zeros


def _embed(table: Floats, token: Ints, scale: Floats, out: Floats, tokens: int, width: int) -> None:
    out[:tokens, :width] = scale[:, None] * table[token]


def _embed_args(rng: Rng) -> Args:
    token = integers(rng, 0, 10, 25, dtype=np.int64)
    arrays = {"table": normal(rng, 10, 20), "token": token, "scale": normal(rng, 25), "out": zeros(25, 20)}
    return {**arrays, "tokens": 25, "width": 20}


def _assemble(contribution: Floats, stiffness: Floats, node: Ints, load: Floats, elements: int) -> None:
    added = stiffness[:, None] * contribution.reshape(elements, 3) ** 2
    np.add.at(load, node, added.ravel())


def _assemble_args(rng: Rng) -> Args:
    arrays = {"contribution": normal(rng, 210), "stiffness": normal(rng, 70), "node": integers(rng, 0, 30, 210)}
    return {**arrays, "load": normal(rng, 30), "elements": 70}


def _deposit(position: Floats, weight: Floats, density: Floats, particles: int, bins: int) -> None:
    scaled = position[:particles] * (bins - 1)
    left = np.clip(np.floor(scaled).astype(int), 0, bins - 2)
    np.add.at(density, left, (1.0 - (scaled - left)) * weight)
    np.add.at(density, left + 1, (scaled - left) * weight)


def _deposit_args(rng: Rng) -> Args:
    """Keeps particles away from the bins' centres, where the share has its kink."""
    position = ((rng.integers(0, 15, 100) + rng.uniform(0.05, 0.95, 100)) / 15.0).astype(np.float32)
    return {"position": position, "weight": normal(rng, 100), "density": zeros(16), "particles": 100, "bins": 16}


def _heat3d(u: Floats, k: Floats, v: Floats, nx: int, ny: int, nz: int, dt: Floats) -> None:
    assert u.shape == (nz, ny, nx)  # noqa: S101
    c = u[1:-1, 1:-1, 1:-1]
    sums = (
        u[1:-1, 1:-1, :-2]
        + u[1:-1, 1:-1, 2:]
        + u[1:-1, :-2, 1:-1]
        + u[1:-1, 2:, 1:-1]
        + u[:-2, 1:-1, 1:-1]
        + u[2:, 1:-1, 1:-1]
    )
    v[1:-1, 1:-1, 1:-1] = c + dt * k[1:-1, 1:-1, 1:-1] * (sums - 6.0 * c)


def _heat3d_args(rng: Rng) -> Args:
    arrays = {"u": normal(rng, 5, 6, 7), "k": uniform(rng, 0.5, 1.5, 5, 6, 7), "v": normal(rng, 5, 6, 7)}
    return {**arrays, "nx": 7, "ny": 6, "nz": 5, "dt": np.float32(0.1)}


def _accelerations(
    x: Floats, y: Floats, z: Floats, m: Floats, ax: Floats, ay: Floats, az: Floats, n: int, eps2: Floats
) -> None:
    at = np.stack([x, y, z])
    apart = at[:, None, :] - at[:, :, None]
    weight = m[:n] * ((apart**2).sum(axis=0) + eps2) ** -1.5
    ax[:n], ay[:n], az[:n] = (weight * apart).sum(axis=2)


def _accelerations_args(rng: Rng) -> Args:
    arrays = {name: normal(rng, 50) for name in ("x", "y", "z")} | {"m": uniform(rng, 0.5, 1.5, 50)}
    return {**arrays, "ax": zeros(50), "ay": zeros(50), "az": zeros(50), "n": 50, "eps2": np.float32(0.1)}


def _edge_strength(image: Floats, strength: Floats, width: int, height: int) -> None:
    p = np.pad(image.reshape(height, width), 1, mode="edge")
    gx = (p[:-2, 2:] - p[:-2, :-2]) + 2.0 * (p[1:-1, 2:] - p[1:-1, :-2]) + (p[2:, 2:] - p[2:, :-2])
    gy = (p[2:, :-2] - p[:-2, :-2]) + 2.0 * (p[2:, 1:-1] - p[:-2, 1:-1]) + (p[2:, 2:] - p[:-2, 2:])
    strength[:] = np.sqrt(gx**2 + gy**2 + np.float32(1e-3))


def _lookup(table: Floats, width: int, height: int, u: Floats, v: Floats, out: Floats, n: int) -> None:
    x, y = u * (width - 1), v * (height - 1)
    x0, y0 = np.minimum(x.astype(int), width - 2), np.minimum(y.astype(int), height - 2)
    below = table[y0, x0] + (x - x0) * (table[y0, x0 + 1] - table[y0, x0])
    above = table[y0 + 1, x0] + (x - x0) * (table[y0 + 1, x0 + 1] - table[y0 + 1, x0])
    out[:n] = below + (y - y0) * (above - below)


def _lookup_args(rng: Rng) -> Args:
    """Keeps the points away from the grid lines, where the slope jumps."""
    u = ((rng.integers(0, 8, 90) + rng.uniform(0.05, 0.95, 90)) / 8.0).astype(np.float32)
    v = ((rng.integers(0, 5, 90) + rng.uniform(0.05, 0.95, 90)) / 5.0).astype(np.float32)
    return {"table": normal(rng, 6, 9), "width": 9, "height": 6, "u": u, "v": v, "out": zeros(90), "n": 90}


_STEPS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
_WEIGHTS = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)


def _collide_stream(f: Floats, g: Floats, nx: int, ny: int, omega: Floats) -> None:
    assert f.shape == (9, ny, nx)  # noqa: S101
    rho = f.sum(axis=0)
    ux = sum(sx * f[q] for q, (sx, _) in enumerate(_STEPS)) / rho
    uy = sum(sy * f[q] for q, (_, sy) in enumerate(_STEPS)) / rho
    for q, (sx, sy) in enumerate(_STEPS):
        cu = sx * ux + sy * uy
        equilibrium = _WEIGHTS[q] * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
        g[q] = np.roll(f[q] + omega * (equilibrium - f[q]), (sy, sx), axis=(0, 1))


def _collide_args(rng: Rng) -> Args:
    f = (np.array(_WEIGHTS)[:, None, None] * rng.uniform(0.8, 1.2, (9, 6, 7))).astype(np.float32)
    return {"f": f, "g": zeros(9, 6, 7), "nx": 7, "ny": 6, "omega": np.float32(1.2)}


def _dense(weight: Floats, bias: Floats, rows: int, columns: int, **arrays: Floats) -> None:
    arrays["out"][:rows] = weight.reshape(rows, columns) @ arrays["in"] + bias


def _dense_args(rng: Rng) -> Args:
    arrays = {"weight": normal(rng, 20, 12), "bias": normal(rng, 20), "in": normal(rng, 12), "out": zeros(20)}
    return {**arrays, "rows": 20, "columns": 12}


def _squared_error(prediction: Floats, target: Floats, loss: Floats, n: int) -> None:
    loss += ((prediction - target) ** 2).sum() / n


def _squared_error_args(rng: Rng) -> Args:
    return {"prediction": normal(rng, 100), "target": normal(rng, 100), "loss": normal(rng, 1), "n": 100}


def _to_edge(p: Floats, a: Floats, b: Floats) -> Floats:
    edge, start = b - a, p - a
    t = np.clip((start * edge).sum(-1) / (edge * edge).sum(-1), 0.0, 1.0)
    off: Floats = ((start - t[..., None] * edge) ** 2).sum(-1)
    return off


def _nearest_face(point: Floats, corner: Floats, distance: Floats, face: Ints, points: int, faces: int) -> None:
    p = point[:points, None]
    a, b, c = (corner[: 3 * faces].reshape(faces, 3, 3)[None, :, k] for k in range(3))
    normal = np.cross(b - a, c - a)
    sides = [(np.cross(normal, second - first) * (p - first)).sum(-1) for first, second in ((a, b), (b, c), (c, a))]
    height = (normal * (p - a)).sum(-1) ** 2 / (normal * normal).sum(-1)
    edges = np.minimum(np.minimum(_to_edge(p, a, b), _to_edge(p, b, c)), _to_edge(p, c, a))
    every = np.where(np.min(sides, axis=0) > 0, height, edges)
    face[:points] = np.argmin(every, axis=1)
    distance[:points] = np.min(every, axis=1)


def _nearest_face_args(rng: Rng) -> Args:
    arrays = {"point": 2 * normal(rng, 45, 3), "corner": normal(rng, 60, 3), "distance": zeros(45)}
    return {**arrays, "face": np.zeros(45, np.int32), "points": 45, "faces": 20}


CASES = (
    Case("gather.cu", "embed", _embed_args, _embed, grid=25, block=32),
    Case("scatter.cu", "assemble", _assemble_args, _assemble, grid=3, block=32),
    Case("histogram.cu", "deposit", _deposit_args, _deposit, grid=4, block=32),
    Case("heat3d.cu", "heat3d", _heat3d_args, _heat3d, grid=(2, 2, 3), block=(4, 4, 2)),
    Case("gravity.cu", "accelerations", _accelerations_args, _accelerations, grid=2, block=32),
    Case(
        "image_gradient.cu",
        "edge_strength",
        lambda rng: {"image": normal(rng, 13, 17), "strength": zeros(13, 17), "width": 17, "height": 13},
        _edge_strength,
        grid=(3, 2),
        block=(8, 8),
    ),
    Case("interpolation.cu", "lookup", _lookup_args, _lookup, grid=3, block=32),
    Case("nearest_face.cu", "nearest_face", _nearest_face_args, _nearest_face, grid=2, block=32),
    Case("lattice_boltzmann.cu", "collide_stream", _collide_args, _collide_stream, grid=(2, 2), block=(4, 4)),
    Case("several_kernels.cu", "dense", _dense_args, _dense, grid=1, block=32),
    Case("several_kernels.cu", "squared_error", _squared_error_args, _squared_error, grid=4, block=32),
)
