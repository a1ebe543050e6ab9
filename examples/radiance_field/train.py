"""Learns a scene as a radiance field from pictures of it; the kernel is the forward renderer alone, network and all.

    python train.py [--target openmp|cuda] [--size 32] [--views 12] [--steps 200] [--rays 256] [--picture out.png]

field.cu sends a ray through the scene for each pixel and asks a small network at points along it; the gradient of a
misfit by the network's weights is compiled by adgen. Scene and optimiser are those of splatting/. Ends with status 1
where the gradient differs from finite differences, or where a picture that was held out does not become better.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "splatting"))

from adam import Adam  # noqa: E402  (of the other example)
from scene import BACKGROUND, Camera, cameras, picture  # noqa: E402

OCTAVES, WIDTH, OUTPUTS = 4, 16, 4
LAYERS = ((3 + 6 * OCTAVES, WIDTH), (WIDTH, WIDTH), (WIDTH, OUTPUTS))
BLOCK, RATE, GAINED = 128, 1e-2, 4.0
SEGMENT = {"from": 1.2, "to": 5.2}
CONSTANT = dict.fromkeys(("origins", "directions", "starts"), "const")
"""Nothing asks for the derivatives by the rays here, which would cost as much as those by the weights."""
LARGEST_DIFFERENCE = 2e-2
"""Between the derivative along a line and finite differences in single precision."""
MEASURED_SIZE, ROUNDS = 800, 7


@dataclass(frozen=True)
class Rays:
    """Arrays [count, 3] of the library that the kernel takes."""

    origins: Any
    directions: Any

    def chosen(self, which: Any) -> Rays:  # noqa: ANN401
        return Rays(self.origins[which], self.directions[which])


class Renderer:
    """The kernel, with the array library (NumPy or CuPy) whose arrays it takes."""

    def __init__(self, target: Literal["openmp", "cuda"], samples: int, built: Path | None = None) -> None:
        self.xp = __import__("cupy") if target == "cuda" else np
        source = HERE / "field.cu"
        made = adgen.load(built, target) if built else adgen.compile(source, target=target, activity=CONSTANT)
        self._kernel = made["render"]
        self._segment = {**SEGMENT, "samples": samples}

    def render(self, weights: Any, rays: Rays, starts: Any) -> Any:  # noqa: ANN401
        arguments = self._arguments(weights, rays, starts)
        self._kernel[_launch(rays)](*arguments)
        return arguments[-1]

    def gradient(self, weights: Any, rays: Rays, starts: Any, cotangent: Any) -> Any:  # noqa: ANN401
        """Of the colours' product with the cotangent by the weights."""
        arguments = self._arguments(weights, rays, starts)
        found = self._kernel.vjp[_launch(rays)](*arguments, cotangents={"colours": cotangent}, wrt=("weights",))
        return found["weights"]

    def launches(self, weights: Any, rays: Rays, starts: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """What launches the kernel, and its gradient, on arrays that are there already."""
        arguments = self._arguments(weights, rays, starts)
        arrays = dict(zip((each.name for each in self._kernel.signature), arguments, strict=True))
        shadows = {p.name: self.xp.full_like(arrays[p.name], 1e-3) for p in self._kernel.signature.shadowed}
        forward, gradient = self._kernel[_launch(rays)], self._kernel.gradient[_launch(rays)]
        return forward.prepare(*arguments), gradient.prepare(*arguments, shadows=shadows)

    def _arguments(self, weights: Any, rays: Rays, starts: Any) -> tuple[Any, ...]:  # noqa: ANN401
        background = dict(zip("xyz", BACKGROUND, strict=True))
        colours = self.xp.zeros_like(rays.origins)
        count = len(rays.origins)
        return count, self._segment, weights, rays.origins, rays.directions, starts, background, colours


def _launch(rays: Rays) -> tuple[int, int]:
    return adgen.cdiv(len(rays.origins), BLOCK), BLOCK


def begin(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """The weights of all layers, each followed by its biases."""
    parts = []
    for inputs, outputs in LAYERS:
        parts += [rng.normal(0, np.sqrt(2 / inputs), inputs * outputs), np.zeros(outputs)]
    return np.concatenate(parts).astype(np.float32)


def rays_of(views: list[Camera]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Where the rays of all pixels begin, and their directions."""
    pairs = [view.rays for view in views]
    shape = (*pairs[0][1].shape[:2], 3)
    origins = np.concatenate([np.broadcast_to(origin, shape).reshape(-1, 3) for origin, _ in pairs])
    directions = np.concatenate([each.reshape(-1, 3) for _, each in pairs])
    return np.ascontiguousarray(origins, np.float32), np.ascontiguousarray(directions, np.float32)


def colours_of(views: list[Camera]) -> np.ndarray[Any, Any]:
    seen = [np.moveaxis(picture(view)[0], 0, -1).reshape(-1, 3) for view in views]
    return np.ascontiguousarray(np.concatenate(seen))


def decibels(image: Any, wanted: Any) -> float:  # noqa: ANN401
    """The peak signal-to-noise ratio."""
    return float(-10 * np.log10(float(((image - wanted) ** 2).mean())))


def difference(renderer: Renderer, weights: Any, rays: Rays) -> float:  # noqa: ANN401
    """Of the derivative along a line from central differences, relative to it."""
    xp, rng = renderer.xp, np.random.default_rng(2)
    cotangent = xp.asarray(rng.random(rays.origins.shape, np.float32))
    line = xp.asarray(rng.standard_normal(len(weights)).astype(np.float32)) * xp.abs(weights)
    starts = xp.full(len(rays.origins), 0.5, xp.float32)
    found = float((renderer.gradient(weights, rays, starts, cotangent) * line).sum())
    step = 1e-3
    ends = [renderer.render(weights + sign * step * line, rays, starts) for sign in (1, -1)]
    wanted = float(((ends[0] - ends[1]).astype(xp.float64) * cotangent).sum()) / (2 * step)
    return abs(found - wanted) / abs(wanted)


def measure(renderer: Renderer, weights: Any, path: Path) -> None:  # noqa: ANN401
    """Milliseconds of a picture and of its gradient, the median of several, on a GPU."""
    xp = renderer.xp
    rays = Rays(*map(xp.asarray, rays_of(cameras(1, MEASURED_SIZE))))
    launches = renderer.launches(weights, rays, xp.full(len(rays.origins), 0.5, xp.float32))
    found = {}
    for name, launch in zip(("forward_ms", "gradient_ms"), launches, strict=True):
        times = []
        for _ in range(ROUNDS + 2):
            begin, end = xp.cuda.Event(), xp.cuda.Event()
            begin.record()
            launch()
            end.record()
            end.synchronize()
            times.append(float(xp.cuda.get_elapsed_time(begin, end)))
        found[name] = statistics.median(times[2:])
    found["ratio"] = found["gradient_ms"] / found["forward_ms"]
    device = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    said = {"command": "python examples/radiance_field/train.py --target cuda --measure FILE", "device": device}
    said["date"] = dt.datetime.now(tz=dt.UTC).date().isoformat()
    text = json.dumps({**said, "rays": len(rays.origins), "weights": len(weights), **found}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    print(text)


def main() -> int:
    options = _options()
    renderer = Renderer(options.target, options.samples, options.artifacts)
    xp, rng = renderer.xp, np.random.default_rng(0)
    views = cameras(options.views, options.size)
    known, held = views[1:], views[:1]
    rays, wanted = Rays(*map(xp.asarray, rays_of(known))), xp.asarray(colours_of(known))
    other, hidden = Rays(*map(xp.asarray, rays_of(held))), xp.asarray(colours_of(held))
    middle = xp.full(len(hidden), 0.5, xp.float32)
    arrays = {"weights": xp.asarray(begin(rng))}
    apart = difference(renderer, arrays["weights"], other)
    print(f"the derivative along a line differs from finite differences by {apart:.1e}")
    first = decibels(renderer.render(arrays["weights"], other, middle), hidden)
    optimizer, started = Adam(xp, arrays), time.perf_counter()
    for step in range(options.steps):
        which = xp.asarray(rng.integers(len(wanted), size=options.rays))
        some, starts = rays.chosen(which), xp.asarray(rng.random(options.rays, np.float32))
        seen = renderer.render(arrays["weights"], some, starts)
        cotangent = 2 * (seen - wanted[which]) / seen.size
        gradient = renderer.gradient(arrays["weights"], some, starts, cotangent)
        optimizer.move(arrays, {"weights": gradient}, {"weights": RATE * 0.1 ** (step / options.steps)})
    seconds, image = time.perf_counter() - started, renderer.render(arrays["weights"], other, middle)
    last = decibels(image, hidden)
    print(f"{options.steps} steps in {seconds:.1f} s; a picture held out: {first:.1f} dB at first, {last:.1f} at last")
    if options.picture:
        _draw(options.picture, [hidden, image], options.size)
    if options.measure:
        measure(renderer, arrays["weights"], options.measure)
    return 0 if apart < LARGEST_DIFFERENCE and last > first + GAINED else 1


def _draw(path: Path, images: list[Any], size: int) -> None:
    """What was held out beside what was learnt."""
    from matplotlib import image as files

    host = [np.asarray(each.get() if hasattr(each, "get") else each).reshape(size, size, 3) for each in images]
    files.imsave(path, np.clip(np.concatenate(host, 1), 0, 1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", choices=["openmp", "cuda"], default="openmp")
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--views", type=int, default=12)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rays", type=int, default=256)
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--picture", type=Path, help="write what was held out and what was learnt")
    parser.add_argument("--measure", type=Path, help="write the times of a picture and its gradient, on a GPU")
    parser.add_argument("--artifacts", type=Path, help="field.cu compiled, where there is no compiler")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
