"""Neutron cross sections, on tables and from poles, with the random numbers and materials that the kernels draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cuda_kernels.case import Args, Case, Pointers
from cuda_kernels.draw import F64, Floats, Ints, Rng, integers, uniform, zeros

Structs = NDArray[np.void]

SHARES = (0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013)
"""How often a lookup meets each material."""
REACTIONS = ("total", "elastic", "absorption", "fission", "nu_fission")
GRID_POINT = np.dtype([(name, "f8") for name in ("energy", *REACTIONS)])
XS_PROBLEM = np.dtype([("lookups", "i8"), ("points", "i8"), ("nuclides", "i4"), ("most", "i4")])

COMPLEX = np.dtype([("re", "f8"), ("im", "f8")], align=True)
POLE = np.dtype([*((name, COMPLEX) for name in ("energy", "total", "absorption", "fission")), ("l", "i2")], align=True)
WINDOW = np.dtype([("total", "f8"), ("absorption", "f8"), ("fission", "f8"), ("first", "i4"), ("last", "i4")])
POLES_PROBLEM = np.dtype(
    [(name, "i4") for name in ("lookups", "most_nuclides", "most_poles", "most_windows", "doppler")]
)
XS_SETTINGS = np.dtype([("lookups", "i8"), ("kind", "i4")], align=True)
XS_TABLES = np.dtype(
    [
        *((name, "u8") for name in ("material_size", "density", "material_nuclide", "union_energy", "union_index")),
        *((name, "u8") for name in ("grids", "result")),
        *(("points", "i8"), ("nuclides", "i4"), ("most", "i4")),
    ]
)
POLES_SETTINGS = np.dtype([("lookups", "i4"), ("doppler", "i4")])
POLES_TABLES = np.dtype(
    [
        *((name, "u8") for name in ("material_size", "density", "material_nuclide", "window_count")),
        *((name, "u8") for name in ("radius", "windows", "poles", "result")),
        *((name, "i4") for name in ("most_nuclides", "most_poles", "most_windows")),
    ],
    align=True,
)
POLE_SPREAD = 152.5
"""Poles lie in a square of this side, so that few are near enough for the whole Faddeeva function."""

_FACTOR, _MODULUS, _START = 2806196910506780709, 1 << 63, 1070
_NEAR = 6.0


def lookups(count: int) -> tuple[Floats, Ints]:
    """Energy and material of each lookup: two numbers in turn of one linear congruential sequence."""
    state, drawn = _START, []
    for _ in range(2 * count):
        state = (_FACTOR * state + 1) % _MODULUS
        drawn.append(state / _MODULUS)
    energy, roll = np.array(drawn).reshape(count, 2).T
    return energy, np.searchsorted(np.cumsum(SHARES), roll, side="right")


def _materials(rng: Rng, nuclides: int, most: int) -> Args:
    """Sizes, nuclides and densities of the materials, the first one with as many as there may be."""
    size = integers(rng, 1, most + 1, len(SHARES))
    size[0] = most
    rows = np.stack([rng.permutation(nuclides)[:most] for _ in SHARES]).astype(np.int32)
    return {"material_size": size, "material_nuclide": rows, "density": uniform(rng, 0.1, 1.0, *rows.shape, dtype=F64)}


def _xs_lookup(
    grids: Structs,
    union_energy: Floats,
    union_index: Ints,
    material_size: Ints,
    material_nuclide: Ints,
    density: Floats,
    result: Floats,
    problem: Structs,
) -> None:
    energy, material = lookups(int(problem["lookups"]))
    interval = np.clip(np.searchsorted(union_energy, energy, side="right") - 1, 0, len(union_energy) - 2)
    result[:] = 0.0
    for i, (at, m) in enumerate(zip(interval, material, strict=True)):
        for nuclide, share in zip(material_nuclide[m, : material_size[m]], density[m], strict=False):
            point = min(int(union_index[at, nuclide]), int(problem["points"]) - 2)
            low, high = grids[nuclide, point], grids[nuclide, point + 1]
            f = (high["energy"] - energy[i]) / (high["energy"] - low["energy"])
            result[i] += share * np.array([high[name] - f * (high[name] - low[name]) for name in REACTIONS])


def _xs_args(rng: Rng) -> Args:
    """Energies far enough from one another for differences in their positions."""
    count, nuclides, points, most = 40, 6, 8, 5
    grids = np.zeros((nuclides, points), GRID_POINT)
    grids["energy"] = (np.arange(points) + rng.uniform(0.0, 0.3, (nuclides, points))) / points
    for name in REACTIONS:
        grids[name] = rng.uniform(0.1, 2.0, (nuclides, points))
    union = np.sort(grids["energy"].ravel())
    index = np.stack([np.searchsorted(own, union, side="right") - 1 for own in grids["energy"]], axis=1)
    materials = _materials(rng, nuclides, most)
    problem = np.array((count, points, nuclides, most), XS_PROBLEM)[()]
    tables = {"grids": grids, "union_energy": union, "union_index": np.maximum(index, 0).astype(np.int32)}
    return {**tables, **materials, "result": zeros(count, 5, dtype=F64), "problem": problem}


def _number(struct: Structs) -> complex:
    return complex(struct["re"], struct["im"])


def _faddeeva(z: complex) -> complex:
    square = z * z
    if abs(z) >= _NEAR:
        near, far = np.sqrt(1.5) * np.array([-1.0, 1.0]) + 1.5
        share = 1.0 / (2.0 * np.sqrt(np.pi) * (3.0 + np.array([-1.0, 1.0]) * np.sqrt(6.0)))
        return complex(1j * z * (share[0] / (square - near) + share[1] / (square - far)))
    n = np.arange(1, 11)
    wave = np.exp(12j * z)
    weight = np.exp(-((n * np.pi / 12.0) ** 2)) * np.sqrt(np.pi) / 6.0
    terms = weight * ((-1.0) ** n * wave - 1.0) / ((n * np.pi) ** 2 - 144.0 * square)
    return complex(1j * (1.0 - wave) / (12.0 * z) + 144.0 / np.sqrt(np.pi) * 1j * z * terms.sum())


def _phases(radius: Floats, root: float) -> NDArray[np.complex128]:
    x = radius * root
    late = [0.0, np.arctan(x[1]), np.arctan(3.0 * x[2] / (3.0 - x[2] ** 2))]
    late.append(np.arctan(x[3] * (15.0 - x[3] ** 2) / (15.0 - 6.0 * x[3] ** 2)))
    return np.asarray(np.exp(-2j * (x - late)))


def _micro(energy: float, window: Structs, poles: Structs, radius: Floats, *, doppler: bool) -> Floats:
    """Total, absorption, fission and elastic cross section of a nuclide."""
    root = float(np.sqrt(energy))
    factor = _phases(radius, root)
    total, absorption, fission = (energy * float(window[name]) for name in ("total", "absorption", "fission"))
    for pole in poles[window["first"] : window["last"]]:
        place = _number(pole["energy"])
        shape = _faddeeva(0.5 * (energy - place)) if doppler else 1j / energy / (place - root)
        total += (_number(pole["total"]) * shape * factor[pole["l"]]).real
        absorption += (_number(pole["absorption"]) * shape).real
        fission += (_number(pole["fission"]) * shape).real
    return np.array([total, absorption, fission, total - absorption])


def _multipole_lookup(
    poles: Structs,
    windows: Structs,
    radius: Floats,
    window_count: Ints,
    material_size: Ints,
    material_nuclide: Ints,
    density: Floats,
    result: Floats,
    problem: Structs,
) -> None:
    result[:] = 0.0
    for i, (energy, m) in enumerate(zip(*lookups(int(problem["lookups"])), strict=True)):
        for nuclide, share in zip(material_nuclide[m, : material_size[m]], density[m], strict=False):
            window = windows[nuclide, int(energy * window_count[nuclide])]
            micro = _micro(energy, window, poles[nuclide], radius[nuclide], doppler=bool(problem["doppler"]))
            result[i] += share * micro


def _multipole_args(rng: Rng, *, doppler: bool) -> Args:
    """Poles below the real axis, half of them where the whole Faddeeva function is needed; none is at an energy."""
    count, nuclides, most_poles, most_windows, most = 40, 5, 12, 4, 4
    window_count = integers(rng, 2, most_windows + 1, nuclides)
    poles = np.zeros((nuclides, most_poles), POLE)
    for name in ("energy", "total", "absorption", "fission"):
        for part in ("re", "im"):
            poles[name][part] = rng.uniform(0.5, 2.0, poles.shape)
    poles["energy"]["im"] *= -1.0
    if doppler:
        poles["energy"]["re"] *= np.where(rng.random(poles.shape) < 0.5, 20.0, 1.0)  # noqa: PLR2004, half of them
    poles["l"] = rng.integers(0, 4, poles.shape)
    windows = np.zeros((nuclides, most_windows), WINDOW)
    for name in ("total", "absorption", "fission"):
        windows[name] = rng.uniform(0.1, 1.0, windows.shape)
    edges = np.linspace(np.zeros(nuclides), most_poles, most_windows + 1, axis=1).astype(np.int32)
    windows["first"], windows["last"] = edges[:, :-1], edges[:, 1:]
    tables = {"poles": poles, "windows": windows, "radius": uniform(rng, 0.1, 1.0, nuclides, 4, dtype=F64)}
    problem = np.array((count, most, most_poles, most_windows, doppler), POLES_PROBLEM)[()]
    known = {"window_count": window_count, **_materials(rng, nuclides, most)}
    return {**tables, **known, "result": zeros(count, 4, dtype=F64), "problem": problem}


def _tables(args: Args, layout: np.dtype[np.void]) -> Pointers:
    """The same arguments in one struct of pointers."""
    problem = args["problem"]
    arrays = {name: args[name] for name in layout.names or () if name in args}
    return Pointers(layout, arrays, {name: problem[name] for name in layout.names or () if name not in args})


def _xs_struct(**given: Any) -> None:  # noqa: ANN401, `in` is a word of Python's
    settings, data = given["in"], given["data"]
    problem = {"lookups": settings["lookups"], **data.values}
    _xs_lookup(**data.arrays, problem=problem)


def _xs_struct_args(rng: Rng) -> Args:
    args = _xs_args(rng)
    settings = np.array((args["problem"]["lookups"], 1), XS_SETTINGS)[()]
    return {"in": settings, "data": _tables(args, XS_TABLES)}


def _multipole_struct(**given: Any) -> None:  # noqa: ANN401
    settings, data = given["in"], given["data"]
    problem = {"lookups": settings["lookups"], "doppler": settings["doppler"], **data.values}
    _multipole_lookup(**data.arrays, problem=problem)


def _multipole_struct_args(rng: Rng, *, doppler: bool) -> Args:
    args = _multipole_args(rng, doppler=doppler)
    settings = np.array((args["problem"]["lookups"], doppler), POLES_SETTINGS)[()]
    return {"in": settings, "data": _tables(args, POLES_TABLES)}


CASES = (
    Case("xs_lookup.cu", "xs_lookup", _xs_args, _xs_lookup, grid=2, block=32, activity={"union_energy": "const"}),
    Case(
        "xs_lookup.cu",
        "xs_lookup",
        _xs_args,
        _xs_lookup,
        grid=2,
        block=32,
        activity={"union_energy": "const", "density": "const"},
    ),
    Case(
        "multipole_lookup.cu",
        "multipole_lookup",
        lambda rng: _multipole_args(rng, doppler=False),
        _multipole_lookup,
        grid=2,
        block=32,
    ),
    Case(
        "multipole_lookup.cu",
        "multipole_lookup",
        lambda rng: _multipole_args(rng, doppler=True),
        _multipole_lookup,
        grid=2,
        block=32,
        activity={"windows": "const", "radius": "const", "density": "const"},
    ),
    Case(
        "xs_struct.cu",
        "xs_struct",
        _xs_struct_args,
        _xs_struct,
        grid=2,
        block=32,
    ),
    Case(
        "multipole_struct.cu",
        "multipole_struct",
        lambda rng: _multipole_struct_args(rng, doppler=True),
        _multipole_struct,
        grid=2,
        block=32,
    ),
)
