"""Kernels of tests/programs for the ablation, which few of the other cases are like.

Some have sizes of ours; `as tested` is the size of the tests, a few blocks, whose time is a thread's latency.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import cupy as cp
import numpy as np
from programs.draw import F64, struct, structs
from programs.rows.points import corners, interpolated, nearest, system, weighed
from programs.soundness import with_arrays
from programs.table import GPU_PROGRAMS

from benchmarks import recurrences
from benchmarks.case import Args, Case, Floor, uniform
from benchmarks.cases import transport
from cuda_kernels.case import Extent
from cuda_kernels.places import Gpu

AS_TESTED = "as tested"
_BY_NAME = {program.name: program for program in GPU_PROGRAMS}
_FLOAT3 = np.dtype([(name, np.float32) for name in "xyz"])


def _placed(args: Args) -> Args:
    gpu = Gpu()
    return {name: with_arrays(value, gpu.put) for name, value in args.items()}


def _forces(side: int) -> Args:
    """As the tests have it, with more particles: one in each cube of 1.5, in cells of 2."""
    rng = np.random.default_rng(1)
    n, cells = side**3, side * 3 // 4
    lattice = np.stack(np.unravel_index(np.arange(n), (side,) * 3), 1) * 1.5 + 0.75
    at = lattice + rng.uniform(-0.1, 0.1, (n, 3))
    cell = (at // 2).astype(int)
    number = (cell[:, 2] * cells + cell[:, 1]) * cells + cell[:, 0]
    args = _BY_NAME["md_cells-md::forces<double, true>"].make(rng)
    counts = np.bincount(number, minlength=cells**3)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    particles = {name: np.resize(array, n) for name, array in args["p"].items()}
    ordered = at[np.argsort(number, kind="stable")]
    particles |= {name: ordered[:, axis].copy() for axis, name in enumerate("xyz")}
    args |= {"p": particles, "box": struct(args["box"].dtype, *(1.5 * side,) * 3, *(cells,) * 3)}
    args |= {"cell_start": starts.astype(np.int32), "cell_count": counts.astype(np.int32)}
    return _placed({**args, "potential": np.zeros(n, F64), "virial": np.zeros(n, F64), "n": n})


def _orbits(n: int) -> Args:
    start = uniform(n, 4, low=-1.0, dtype="float64") * cp.asarray([3.0, 3.0, 1.0, 1.0])
    arrays = {"start": start.ravel(), "end": cp.zeros(4 * n), "masses": uniform(3, low=0.5, dtype="float64")}
    return {**arrays, "t_end": 1.5, "tol": 1e-4, "accepted": cp.zeros(n, "int32")}


def _irradiance(n: int) -> Args:
    normals = structs(_FLOAT3, np.random.default_rng(1).standard_normal((n, 3)))
    return _placed({"normals": normals}) | {
        "coefficients": uniform(27, low=1.0, high=2.0),
        "out": cp.zeros((n, 3), "float32"),
        "count": n,
    }


def _blur(side: int) -> Args:
    image = uniform(side, side, 2)
    return {"image": image, "out": cp.zeros_like(image), "width": side, "height": side, "channels": 2}


def _mixture(n: int) -> Args:
    args = _BY_NAME["gmm_em-e_step<double, 2, 3, 32>"].make(np.random.default_rng(1))
    points = np.random.default_rng(2).standard_normal((2, n))
    return _placed({**args, "points": points, "resp": np.zeros((3, n)), "n": n})


def _attention(tokens: int, heads: int) -> Args:
    arrays = {"q": uniform(heads, tokens, 16)} | {name: uniform(heads // 2, tokens, 16) for name in "kv"}
    sizes = {"tokens": tokens, "heads": heads, "kv_heads": heads // 2, "scale": 0.25}
    return {**arrays, "out": cp.zeros_like(arrays["q"]), **sizes}


def _gated(rows: int, dim: int, hidden: int) -> Args:
    arrays = {"x": uniform(rows, dim), "wg": uniform(dim, hidden), "wu": uniform(dim, hidden)}
    return {**arrays, "out": cp.zeros((rows, hidden), "float32"), "rows": rows, "dim": dim, "hidden": hidden}


def _splats(side: int) -> Args:
    """A list of 40 for each tile of 4 x 4."""
    rng = np.random.default_rng(1)
    args = _BY_NAME["gaussian_splatting-blend_tiles<4>"].make(rng)
    tiles = (side // 4) ** 2
    ranges = np.zeros(tiles, args["ranges"].dtype)
    ranges["x"] = np.arange(tiles)
    ranges["y"] = ranges["x"] + 40
    image = {"image": np.zeros((3, side, side), np.float32), "transmittance": np.zeros((side, side), np.float32)}
    order = rng.integers(0, len(args["gaussians"]), tiles + 40).astype(np.int32)
    return _placed({**args, "ranges": ranges, "order": order, **image, "width": side, "height": side})


def _seen(side: int, listed: int) -> Args:
    """Tiles of 16 x 16 with spots that lie in them or near by, from front to back."""
    rng = np.random.default_rng(1)
    tiles = side // 16
    corners = 16 * np.stack(np.meshgrid(np.arange(tiles), np.arange(tiles), indexing="xy"), -1).reshape(-1, 1, 2)
    spots = np.empty((tiles * tiles, listed, 6), np.float32)
    spots[..., :2] = corners + rng.uniform(-4, 20, (tiles * tiles, listed, 2))
    spots[..., 2:5] = [0.05, 0.0, 0.05]
    spots[..., 5] = rng.uniform(0.05, 0.3, (tiles * tiles, listed))
    ends = np.arange(tiles * tiles + 1, dtype=np.int32) * listed
    return {
        "view": {"width": side, "height": side, "focal": float(side)},
        "ranges": cp.asarray(np.stack([ends[:-1], ends[1:]], 1)),
        "entries": cp.arange(len(ends[1:]) * listed, dtype="int32"),
        "spots": cp.asarray(spots.reshape(-1, 6)),
        "colours": uniform(tiles * tiles * listed, 3),
        "background": {"x": 1.0, "y": 1.0, "z": 1.0},
        "image": cp.zeros((3, side, side), "float32"),
    }


def _repeated(values: np.ndarray, count: int) -> np.ndarray:
    """As `np.resize`, which forgets how the members of structs are aligned."""
    return values[np.arange(count) % len(values)]


def _skin(n: int, bones: int) -> Args:
    """As the tests have it: vertices side by side have their bones in common."""
    rng = np.random.default_rng(1)
    args = _BY_NAME["looked_up-skin"].make(rng)
    sized = {name: _repeated(args[name], count) for name, count in (("skeleton", bones), ("rest", n), ("weights", n))}
    of = (np.arange(n)[:, None] * bones // n + rng.integers(0, 2, (n, 4))) % bones
    return _placed(
        {**args, **sized, "bones": structs(args["bones"].dtype, of), "posed": _repeated(args["posed"], n), "n": n}
    )


def _observed(n: int, cameras: int) -> Args:
    """Points in the order of the cameras that see them."""
    args = _BY_NAME["looked_up-observe"].make(np.random.default_rng(1))
    sized = {name: _repeated(args[name], n) for name in ("points", "pixels")}
    seen_by = (np.arange(n) * cameras // n).astype(np.int32)
    return _placed({**args, **sized, "cameras": _repeated(args["cameras"], cameras), "seen_by": seen_by, "n": n})


def _of(make: Callable[..., Args], *sizes: int) -> Args:
    return _placed(make(np.random.default_rng(1), *sizes))


def _nearest(n: int, m: int) -> Args:
    points = {name: uniform(count, 2, low=-1.0, dtype="float64") for name, count in (("p", n), ("q", m))}
    return {"n": n, "m": m, **points, "y": cp.zeros(n), "which": cp.zeros(n, "int32")}


def _within(n: int, m: int) -> Args:
    points = {name: uniform(count, low=-1.0, dtype="float64") for name, count in (("p", n), ("q", m))}
    return {"n": n, "m": m, "reach": 0.1, **points, "y": cp.zeros(n)}


def _filtered(blocks: int, rows: int) -> Args:
    x = uniform(blocks * rows * 32)
    return {"x": x, "taps": uniform(32, high=0.3), "y": cp.zeros_like(x), "rows": rows, "length": 32}


def _strided(n: int) -> Args:
    return {"x": uniform(n), "y": cp.zeros(n, "float32"), "n": n}


def _field(rays: int) -> Args:
    weights = 0.35 * cp.random.default_rng().standard_normal(788, dtype="float32")
    origins = cp.zeros((rays, 3), "float32") + cp.asarray([0.0, 0.0, -3.2], "float32")
    directions = uniform(rays, 3, low=-0.2, high=0.2) + cp.asarray([0.0, 0.0, 1.0], "float32")
    segment = {"from": 1.2, "to": 5.2, "samples": 24}
    return {
        "rays": rays,
        "segment": segment,
        "weights": weights,
        "origins": origins,
        "directions": directions,
        "starts": uniform(rays),
        "background": {"x": 0.75, "y": 0.85, "z": 0.95},
        "colours": cp.zeros((rays, 3), "float32"),
    }


def _halves(*shape: int) -> Any:  # noqa: ANN401
    return uniform(*shape, low=-0.5, high=0.5).astype("float16")


def _product(side: int) -> Args:
    matrices = {"A": _halves(side, side), "B": _halves(side, side), "C": cp.zeros((side, side), "float32")}
    return {**matrices, "M": side, "N": side, "K": side, "alpha": 0.5, "beta": -1.5}


def _blocks(count: int) -> Args:
    arrays = {name: _halves(count, 16, 16) for name in "qkv"}
    return {**arrays, "o": cp.zeros((count, 16, 16), "float32"), "scale": 0.36}


def _recurrences() -> Iterator[Case]:
    for name, (size, args, grid, block) in recurrences.cases().items():
        yield _sized(name.replace("_", " "), name, size, args, grid, block)


def _sized(name: str, artifact: str, size: str, args: Callable[[], Args], grid: Extent, block: Extent) -> Case:
    return Case(name, artifact, size, args, grid, block, math.inf, Floor(0.0))


def _tested(artifact: str, name: str, of: str) -> Case:
    program = _BY_NAME[of]

    def args() -> Args:
        return _placed(program.make(np.random.default_rng(1)))

    case = _sized(name, artifact, AS_TESTED, args, program.grid, program.block or 1)
    return replace(case, shared_bytes=program.shared_bytes)


_OF_TESTS = {
    "selective_scan": ("selective scan", "selective_scan-selective_scan<Shape<64, 2, false, float>>"),
    "ptx_gemm": ("product, PTX", "tensor_ptx-gemm_double_buffered"),
    "ptx_flash": ("attention, PTX", "tensor_ptx-flash_block"),
    "tc_gemm": ("product, Tensor Cores", "tensor_cores-gemm_tiled"),
    "tc_conv": ("convolution, Tensor Cores", "tensor_cores-implicit_convolution"),
    "neural_field": ("neural field", "neural_field-render_rays"),
    "conv2d": ("convolution", "conv_layers-conv2d<3, 2, 4, Act::Gelu>"),
    "soft_dtw": ("soft alignment", "soft_alignment-soft_dtw"),
    "rollout": ("rollouts of a quadrotor", "quadrotor_mpc-rollout"),
    "robertson": ("stiff kinetics", "stiff_kinetics-chem::backward_euler<chem::Robertson>"),
    "path_tracer": ("path tracer", "path_tracer-render"),
    "attenuate": ("voxels", "voxel_walk-attenuate"),
    "neuron": ("neurons", "neuron_cable-step_neurons"),
    "filter_rows": ("spectral filter", "fft_spectrum-filter_rows<4>"),
    "online_attention": ("attention by rows, online", "attention-attention_forward"),
    "batch_norm": ("batch norm", "batch_norm-batch_norm<32>"),
    "attention_rows": ("attention by warps", "attention_tiles-attention_rows<32>"),
    "head_loss": ("loss of a head", "gru_sequence-head_loss<32>"),
    "dose": ("dose", "dose-transport"),
}
"""Names of cases and programs by those of artifacts."""

CASES = (
    _sized("molecular dynamics", "md_forces", "32,768 particles, double", lambda: _forces(32), 256, 128),
    _sized("orbits", "orbits", "2^15 double", lambda: _orbits(1 << 15), 256, 128),
    _sized("irradiance", "irradiance", "2^20 normals", lambda: _irradiance(1 << 20), 1 << 13, 128),
    _sized("blur", "blur", "2048^2 x 2 float", lambda: _blur(2048), (256, 256), (8, 8)),
    _sized("mixture, expectations", "e_step", "2^18 points, double", lambda: _mixture(1 << 18), 1 << 13, 32),
    _sized("attention", "attention", "32 x 512 x 16 float", lambda: _attention(512, 32), (256, 32), (32, 2)),
    _sized("gated layer", "gated_mlp", "512 x 256 x 512 float", lambda: _gated(512, 256, 512), (32, 512), 16),
    _sized("blending by tiles", "blend_tiles", "512^2, 40 a tile", lambda: _splats(512), (128, 128), (4, 4)),
    _sized(
        "nearest by tiles", "nearest_by_tiles", "65,536 of 2,048, double", lambda: _nearest(1 << 16, 2048), 256, 256
    ),
    _sized("within reach", "within_reach", "2^18 of 1,024, double", lambda: _within(1 << 18, 1024), 2048, 128),
    _sized("filter by rows", "filtered", "2,048 x 64 x 32 float", lambda: _filtered(2048, 64), 2048, 32),
    _sized("splats by tiles", "splats", "1,024^2, 256 a tile", lambda: _seen(1024, 256), (64, 64), (16, 16)),
    _sized("skinning", "skin", "2^20 vertices, 64 bones", lambda: _skin(1 << 20, 64), 1 << 13, 128),
    _sized("observations", "observe", "2^20 points, 50 cameras", lambda: _observed(1 << 20, 50), 1 << 13, 128),
    _sized("8 nearest", "nearest", "2^15 of 2,048, float", lambda: _of(nearest, 1 << 15, 2048), 256, 128),
    _sized(
        "interpolation of features",
        "interpolate",
        "64 channels, 2^19 of 2^14, float",
        lambda: _of(interpolated, 64, 1 << 14, 1 << 19),
        1 << 12,
        128,
    ),
    _sized(
        "corners of voxels",
        "corners",
        "100,000 points, 40,000 corners, 64 channels, float",
        lambda: _of(corners, 100_000, 64, 40_000),
        100_000,
        64,
    ),
    _sized("repeated work", "weighed", "2^22 x 16 float", lambda: _of(weighed, 1 << 22, 16), 1 << 15, 128),
    replace(
        _sized("doubling distances", "doubling", "4,096 x 256 double", lambda: _of(system, 256, 4096), 4096, 256),
        shared_bytes=4 * 256 * 8,
    ),
    _sized("grid-stride recurrence", "grid_stride", "2^16 threads, 64 steps", lambda: _strided(1 << 22), 512, 128),
    *(
        replace(case, name=f"{case.name}, all active", artifact="multipole_lookup-multipole_lookup", at_most=math.inf)
        for case in transport.CASES
        if case.name == "cross sections, multipoles"
    ),
    _sized("product, PTX", "ptx_gemm", "1,024^3 half", lambda: _product(1024), (64, 32), 64),
    _sized("product, Tensor Cores", "tc_gemm", "1,024^3 half", lambda: _product(1024), (32, 32), 128),
    _sized("attention, PTX", "ptx_flash", "65,536 blocks of 16 x 16 half", lambda: _blocks(1 << 16), 1 << 16, 32),
    _sized("radiance field", "field", "640,000 rays, 788 weights", lambda: _field(640_000), 5000, 128),
    *_recurrences(),
    *(_tested(artifact, *of) for artifact, of in _OF_TESTS.items()),
)
