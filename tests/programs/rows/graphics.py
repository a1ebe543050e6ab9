"""Images and scenes."""

from __future__ import annotations

import numpy as np
from programs.draw import DOUBLE2, DOUBLE3, F32, F64, FLOAT2, FLOAT3, FLOAT4, INT2, Rng, struct, structs
from programs.program import Args, Program

from cuda_kernels.draw import normal, uniform, zeros

_UCHAR4 = np.dtype([(name, np.uint8) for name in "xyzw"])
_HASH = np.dtype([("levels", np.uint32), ("log2_size", np.uint32), ("base", F32), ("growth", F32)])
_GAUSSIAN = np.dtype(
    {
        "names": ["mean", "conic", "opacity", "colour"],
        "formats": [FLOAT2, FLOAT3, F32, FLOAT3],
        "itemsize": 40,  # float2 is aligned to 8 bytes
    }
)
_SHAPE = np.dtype([(name, F32) for name in ("a", "b", "c", "weight")])
_MATERIAL = np.dtype([(name, F32) for name in ("ambient", "diffuse", "specular", "shininess", "fresnel")])
_CAMERA = np.dtype([("focal", F64, 2), ("centre", F64, 2), ("distortion", F64, 3), ("unused", F32)], align=True)
_SPHERE = np.dtype([("centre", DOUBLE3), ("radius", F64)])


def _render(rng: Rng) -> Args:
    """Two large spheres that every ray hits: where rays graze, sphere tracing is not smooth."""
    spheres = np.zeros(2, _SPHERE)
    spheres["centre"] = structs(DOUBLE3, np.array([[0, 0, 1], [0.1, 0.2, 1.2]]) + rng.uniform(-0.1, 0.1, (2, 3)))
    spheres["radius"] = rng.uniform(1.9, 2.0, 2)
    light = structs(DOUBLE3, np.array([[2, 3, -2]]) + rng.uniform(-0.5, 0.5, (1, 3)))
    return {"spheres": spheres, "count": 2, "light": light, "image": np.zeros((6, 8), DOUBLE3), "width": 8, "height": 6}


def _flow(rng: Rng) -> Args:
    h, w = 9, 12
    frames = {name: uniform(rng, 0, 1, h, w) for name in ("first", "second")}
    flow = {name: uniform(rng, 0.3, 0.6, h, w) for name in "uv"}
    return {**frames, **flow, "energy": zeros(1), "w": w, "h": h, "lambda": 0.1}


def _double(args: Args) -> Args:
    return {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in args.items()}


def _irradiance(rng: Rng) -> Args:
    normals = structs(FLOAT3, rng.standard_normal((40, 3)))
    coefficients = normal(rng, 27)
    coefficients[::9] += 20  # light from all sides: none is below zero
    return {"normals": normals, "coefficients": coefficients, "out": zeros(40, 3), "count": 40}


def _shade(rng: Rng) -> Args:
    """Directions that are neither at right angles to the light nor where highlights begin."""
    facing = np.where(rng.random(270) < 0.4, rng.uniform(0.65, 0.95, 270), rng.uniform(-0.9, 0.55, 270))
    facing[np.abs(facing) < 0.05] = 0.3
    around = rng.uniform(0, 6, 270)
    side = np.sqrt(1 - facing**2)
    material = struct(_MATERIAL, *rng.uniform(0.3, 0.8, 3), 4.5, 0.2)
    normals = structs(FLOAT3, np.stack([side * np.cos(around), side * np.sin(around), facing], 1) * 1.5)
    return {
        "normals": normals,
        "material": np.atleast_1d(material),
        "exposure": 0.7,
        "colour": zeros(270),
        "width": 27,
        "height": 10,
    }


def _reprojection(rng: Rng) -> Args:
    points = rng.uniform(-1, 1, (333, 3)) + np.array([0, 0, 3.0])
    camera = struct(_CAMERA, rng.uniform(1, 2, 2), rng.uniform(0, 1, 2), rng.uniform(-0.1, 0.1, 3), 0)
    return {
        "points": structs(DOUBLE3, points),
        "camera": np.atleast_1d(camera),
        "pixels": np.zeros(333, DOUBLE2),
        "count": 333,
    }


def _smooth(rng: Rng) -> Args:
    arrays = {"signal": rng.uniform(0, 1, 200), "taps": rng.uniform(0.1, 0.5, 4), "gain": uniform(rng, 0.5, 1, 1)}
    return {**arrays, "smoothed": np.zeros(200), "count": 200, "steps": 3}


def _decay(rng: Rng) -> Args:
    steps = rng.integers(0, 20, 300).astype(np.int32)
    law = {"rates": uniform(rng, 0.5, 1, 3), "scale": rng.uniform(1, 2, 1)}
    return {"amounts": uniform(rng, 0.5, 9, 300), "steps": steps, "law": law, "left": zeros(300), "count": 300}


def _series(rng: Rng) -> Args:
    arrays = {"x": uniform(rng, 0.1, 3, 250), "coefficients": rng.uniform(-0.1, 0.1, 300)}
    return {**arrays, "phases": uniform(rng, 0, 1, 7), "terms": 300, "sums": np.zeros(250), "count": 250}


def _network(rng: Rng) -> Args:
    layers = {"weights": uniform(rng, -0.5, 0.5, 60), "biases": uniform(rng, -0.5, 0.5, 12), "width": 5}
    return {"layers": layers, "samples": normal(rng, 330, 4), "scores": zeros(330), "depth": 3, "count": 330}


def _blur(rng: Rng) -> Args:
    return {"image": normal(rng, 7, 9, 2), "out": zeros(7, 9, 2), "width": 9, "height": 7, "channels": 2}


def _develop(rng: Rng) -> Args:
    pixels = np.zeros(40, _UCHAR4)
    for name in "xyzw":
        pixels[name] = rng.integers(0, 256, 40)
    return {
        "pixels": pixels,
        "matrix": normal(rng, 3, 3),
        "gain": uniform(rng, 0.5, 1, 1),
        "linear": np.zeros(40, FLOAT4),
        "n": 40,
    }


def _encode(rng: Rng) -> Args:
    """Points inside of cells of all levels: the first level has 4 by 4, each next one twice as many."""
    at = (rng.integers(0, 8, (30, 2)) + rng.uniform(0.2, 0.8, (30, 2)) / 2) / 8
    table = structs(FLOAT2, rng.standard_normal((2 * 64, 2)))
    return {
        "points": structs(FLOAT2, at),
        "table": table,
        "features": np.zeros((30, 2), FLOAT2),
        "grid": struct(_HASH, 2, 6, 4, 2),
        "n": 30,
    }


def _mlp(rng: Rng) -> Args:
    """Hidden units that are all positive or all negative: none is near the kink."""
    w1 = uniform(rng, 0.1, 0.5, 4, 8) * np.array([[1], [-1], [1], [-1]], F32)
    return {"features": uniform(rng, 0.5, 1, 30, 8), "w1": w1, "w2": normal(rng, 4), "out": zeros(30), "n": 30}


def _blend(rng: Rng) -> Args:
    """Wide Gaussians: none is cut off inside of the image."""
    g = np.zeros(12, _GAUSSIAN)
    g["mean"] = structs(FLOAT2, rng.uniform(0, 8, (12, 2)))
    g["conic"] = structs(FLOAT3, rng.uniform([0.01, 0, 0.01], [0.02, 0, 0.02], (12, 3)))
    g["opacity"] = rng.uniform(0.3, 0.6, 12)
    g["colour"] = structs(FLOAT3, rng.uniform(0, 1, (12, 3)))
    ranges = np.zeros(4, np.dtype([("x", np.int32), ("y", np.int32)]))
    ranges["x"], ranges["y"] = [0, 2, 4, 6], [6, 8, 10, 12]
    return {
        "gaussians": g,
        "ranges": ranges,
        "order": rng.permutation(12).astype(np.int32),
        "image": zeros(3, 8, 8),
        "transmittance": zeros(8, 8),
        "width": 8,
        "height": 8,
        "tile": 4,
    }


def _blend_tiles(rng: Rng) -> Args:
    """Four tiles, of which the image ends in the last two; a list is longer than a batch, the first is empty."""
    args = _blend(rng)
    args["gaussians"]["opacity"] *= 0.2
    args["ranges"]["x"], args["ranges"]["y"] = [5, 2, 4, 0], [5, 8, 10, 40]
    args["order"] = rng.integers(0, 12, 40).astype(np.int32)
    del args["tile"]
    return {**args, "image": zeros(3, 7, 7), "transmittance": zeros(7, 7), "width": 7, "height": 7}


def _masked(rng: Rng) -> Args:
    """Two cameras of four tiles each, in which the image ends; lists longer than a batch, masked or empty."""
    first = np.array([0, 5, 5, 30, 42, 50, 58, 66], np.int32)
    return {
        "total": 75,
        "centres": structs(FLOAT2, rng.uniform(0, 7, (12, 2))),
        "shapes": structs(_SHAPE, rng.uniform([0.01, 0, 0.01, 0.05], [0.02, 0, 0.02, 0.1], (12, 4))),
        "colours": uniform(rng, 0, 1, 12, 3),
        "background": uniform(rng, 0, 1, 2, 3),
        "masks": np.array([True, False, True, True, False, True, True, False]),
        "width": 7,
        "height": 7,
        "tiles": struct(INT2, 2, 2),
        "first_of_tile": first,
        "sorted": rng.integers(0, 12, 75).astype(np.int32),
        "image": zeros(2, 7, 7, 3),
        "opaque": zeros(2, 7, 7),
        "last": np.zeros((2, 7, 7), np.int32),
    }


def _coverage(rng: Rng) -> Args:
    pixels, faces = 100, 5
    distances = normal(rng, pixels, faces)
    distances[rng.random((pixels, faces)) < 0.3] = 4  # faces that are not there
    return {"distances": distances, "covered": zeros(pixels), "pixels": pixels, "faces": faces, "sharpness": 0.7}


def _last_coverage(rng: Rng) -> Args:
    return {**_coverage(rng), "covered": zeros(24), "width": 24}


ROWS = (
    # its normals are differences: the primal itself is rough
    Program("ray_march.cu", "render", _render, ("image",), (1, 1), (8, 8), tolerance=1e-5),
    Program(
        "optical_flow.cu",
        "flow_energy<float>",
        _flow,
        ("energy",),
        (2, 2),
        (8, 8),
        activity={"lambda": "active"},
        tolerance=1e-2,
    ),  # one sum of all pixels in single precision
    Program("optical_flow.cu", "flow_energy<double>", lambda rng: _double(_flow(rng)), ("energy",), (2, 2), (8, 8)),
    Program("spherical_harmonics.cu", "sh::irradiance<3>", _irradiance, ("out",), 2, 32),
    Program("shared_parameters.cu", "shade", _shade, ("colour",), (2, 2), (20, 5)),
    Program("shared_parameters.cu", "shade", _shade, ("colour",), (1, 2), (32, 8), activity={"exposure": "active"}),
    Program("shared_parameters.cu", "reprojection", _reprojection, ("pixels",), 2, 80),
    Program("shared_parameters.cu", "smooth", _smooth, ("smoothed",), 3, 70),
    Program("shared_parameters.cu", "decay", _decay, ("left",), 5, 70),
    Program("shared_parameters.cu", "series", _series, ("sums",), 3, 96),
    Program("shared_parameters.cu", "network", _network, ("scores",), 4, 100),
    Program("convolution.cu", "blur", _blur, ("out",), (2, 1), (8, 8)),
    Program("convolution.cu", "develop", _develop, ("linear",), 2, 32),
    Program("hash_grid.cu", "encode", _encode, ("features",), (1, 2), 32),
    Program("hash_grid.cu", "mlp<8, 4>", _mlp, ("out",), 1, 32),
    Program("gaussian_splatting.cu", "blend", _blend, ("image", "transmittance"), (1, 1), (8, 8)),
    Program("strided_products.cu", "coverage", _coverage, ("covered",), 3, 8),
    Program("strided_products.cu", "last_coverage", _last_coverage, ("covered",), 3, 8),
    Program("gaussian_splatting.cu", "blend_tiles<4>", _blend_tiles, ("image", "transmittance"), (2, 2), (4, 4)),
    Program("masked_tiles.cu", "compose<3, 4>", _masked, ("image", "opaque", "last"), (2, 2, 2), (4, 4)),
)
