"""Neutron cross sections at the sizes that XSBench and RSBench publish, on data like theirs, made on the GPU."""

from __future__ import annotations

import cupy as cp
import numpy as np

from benchmarks.case import FP64_FLOPS, Args, Case, Floor, structs, uniform
from cuda_kernels.cases.transport import (
    POLE,
    POLE_SPREAD,
    POLES_PROBLEM,
    POLES_SETTINGS,
    POLES_TABLES,
    SHARES,
    WINDOW,
    XS_PROBLEM,
    XS_SETTINGS,
    XS_TABLES,
)

NUCLIDES = 355
SIZES = (321, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9)
"""Nuclides of each material."""
MEAN_SIZE = float(np.dot(SHARES, SIZES))
"""Nuclides that a lookup adds up on average."""

XS_LOOKUPS, POINTS = 17_000_000, 11_303
MULTIPOLE_LOOKUPS, POLES, WINDOWS = 10_200_000, 1_000, 100
MEAN_POLES = POLES // WINDOWS - 1
"""Poles of a window; the publication's windows leave one out."""


def _materials() -> Args:
    rng = np.random.default_rng()
    rows = np.stack([rng.permutation(NUCLIDES)[: max(SIZES)] for _ in SIZES])
    known = {"material_size": np.array(SIZES, np.int32), "material_nuclide": rows.astype(np.int32)}
    placed = {name: cp.asarray(array) for name, array in known.items()}
    return {**placed, "density": uniform(len(SIZES), max(SIZES), dtype="float64")}


def _xs_args() -> Args:
    """Ascending random energies for every nuclide; the index table (5.7 GB) is filled one nuclide at a time."""
    grids = uniform(NUCLIDES, POINTS, 6, dtype="float64")
    grids[..., 0] = cp.sort(grids[..., 0], axis=1)
    union = cp.sort(grids[..., 0].ravel())
    index = cp.empty((union.size, NUCLIDES), dtype="int32")
    for nuclide in range(NUCLIDES):
        energies = cp.ascontiguousarray(grids[nuclide, :, 0])
        index[:, nuclide] = cp.maximum(cp.searchsorted(energies, union, side="right") - 1, 0)
    problem = np.array((XS_LOOKUPS, POINTS, NUCLIDES, max(SIZES)), XS_PROBLEM)[()]
    tables = {"grids": grids, "union_energy": union, "union_index": index, **_materials()}
    return {**tables, "result": uniform(XS_LOOKUPS, 5, dtype="float64"), "problem": problem}


def _counts(mean: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of `mean` times the nuclides' number fall to each nuclide, by chance, at least one."""
    return 1 + np.random.default_rng().multinomial((mean - 1) * NUCLIDES, np.full(NUCLIDES, 1.0 / NUCLIDES))


def _poles(most: int) -> cp.ndarray:
    """Poles and residues in a large square, below the real axis: few come near an energy. The last word holds l."""
    words = uniform(NUCLIDES, most, POLE.itemsize // 8, dtype="float64")
    words[..., [0, 2, 4, 6]] *= POLE_SPREAD
    words[..., 1] *= -POLE_SPREAD
    words[..., -1].view("int64")[...] = cp.random.randint(0, 4, words.shape[:-1])
    return words


def _windows(
    poles: np.ndarray[tuple[int], np.dtype[np.int64]], count: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> cp.ndarray:
    """Windows of nearly equal numbers of poles; the last word holds the first pole's number and the end's."""
    at = np.minimum(np.arange(count.max() + 1), count[:, None])
    edges = at * (poles // count)[:, None] + np.minimum(at, (poles % count)[:, None])
    words = uniform(NUCLIDES, int(count.max()), WINDOW.itemsize // 8, dtype="float64")
    bounds = np.stack([edges[:, :-1], np.maximum(edges[:, 1:] - 1, edges[:, :-1])], axis=-1).astype(np.int32)
    words[..., -1] = cp.asarray(bounds.view(np.float64)[..., 0])
    return words


def _multipole_args() -> Args:
    poles, windows = _counts(POLES), _counts(WINDOWS)
    sizes = (MULTIPOLE_LOOKUPS, max(SIZES), int(poles.max()), int(windows.max()), 1)
    tables = {
        "poles": structs(_poles(int(poles.max())), POLE),
        "windows": structs(_windows(poles, windows), WINDOW),
        "radius": uniform(NUCLIDES, 4, dtype="float64"),
        "window_count": cp.asarray(windows.astype(np.int32)),
        **_materials(),
    }
    result = uniform(MULTIPOLE_LOOKUPS, 4, dtype="float64")
    return {**tables, "result": result, "problem": np.array(sizes, POLES_PROBLEM)[()]}


def _of_pointers(args: Args, settings: np.void, layout: np.dtype[np.void]) -> Args:
    """The same arguments for a kernel that takes all tables in one struct."""
    problem = args["problem"]
    tables = {name: args[name] if name in args else int(problem[name]) for name in layout.names or ()}
    return {"in": settings, "data": tables}


def _xs_struct_args() -> Args:
    return _of_pointers(_xs_args(), np.array((XS_LOOKUPS, 1), XS_SETTINGS)[()], XS_TABLES)


def _multipole_struct_args() -> Args:
    settings = np.array((MULTIPOLE_LOOKUPS, 1), POLES_SETTINGS)[()]
    return _of_pointers(_multipole_args(), settings, POLES_TABLES)


XS_FLOOR = Floor(
    # Every table once, of the index table what the lookups read, and five results; 28 operations a nuclide.
    bytes=56 * NUCLIDES * POINTS + (4 * MEAN_SIZE + 40) * XS_LOOKUPS,
    flops=28 * MEAN_SIZE * XS_LOOKUPS,
    flops_a_second=FP64_FLOPS,
)
MULTIPOLE_FLOOR = Floor(
    # Every table once and four results; 50 operations a nuclide for phases and sums, 70 a pole far from the energy.
    bytes=72 * NUCLIDES * POLES + 32 * MULTIPOLE_LOOKUPS,
    flops=(50 + 70 * MEAN_POLES) * MEAN_SIZE * MULTIPOLE_LOOKUPS,
    flops_a_second=FP64_FLOPS,
)

CASES = (
    Case(
        "cross sections, union grid",
        "xs_lookup-xs_lookup-union_energy-const-density-const",
        "17 M lookups, 355 nuclides, 11,303 points",
        _xs_args,
        -(-XS_LOOKUPS // 256),
        256,
        2.5,
        XS_FLOOR,
    ),
    Case(
        "cross sections, multipoles",
        "multipole_lookup-multipole_lookup-windows-const-radius-const-density-const",
        "10.2 M lookups, 355 nuclides, 1,000 poles",
        _multipole_args,
        -(-MULTIPOLE_LOOKUPS // 256),
        256,
        3.2,
        MULTIPOLE_FLOOR,
    ),
    Case(
        "cross sections, union grid, all in a struct",
        "xs_struct-xs_struct",
        "17 M lookups, 355 nuclides, 11,303 points",
        _xs_struct_args,
        -(-XS_LOOKUPS // 256),
        256,
        3.0,
        XS_FLOOR,
    ),
    Case(
        "cross sections, union grid, all active",
        "xs_lookup-xs_lookup-union_energy-const",
        "17 M lookups, 355 nuclides, 11,303 points",
        _xs_args,
        -(-XS_LOOKUPS // 256),
        256,
        3.0,
        XS_FLOOR,
    ),
    Case(
        "cross sections, multipoles, all in a struct",
        "multipole_struct-multipole_struct",
        "10.2 M lookups, 355 nuclides, 1,000 poles",
        _multipole_struct_args,
        -(-MULTIPOLE_LOOKUPS // 256),
        256,
        4.0,
        MULTIPOLE_FLOOR,
    ),
)
