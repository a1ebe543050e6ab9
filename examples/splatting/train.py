"""Learns a scene as three-dimensional Gaussians from pictures of it; of the renderer only the forward kernels exist.

    python train.py [--target openmp|cuda] [--gaussians 600] [--size 48] [--views 8] [--steps 150] [--picture out.png]

The pictures are drawn by scene.py. splat.cu projects the Gaussians, lists them by tiles and blends them; the gradients
of the first and the last of these kernels are compiled by adgen. So is the gradient by a camera's pose: a camera that
was moved is found again by it. Ends with status 1 where it is not, or where the pictures do not become better.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from adam import Adam
from scene import BACKGROUND, Camera, cameras, picture

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
TILE, BLOCK = 16, 256
RATES = {"means": 2e-3, "log_scales": 1e-2, "turns": 2e-3, "logits": 5e-2, "colours": 1e-2}
GAINED = 6.0
"""Decibels by which the pictures become better at least."""
POSE_STEPS, POSE_RATE = 60, 4e-3
FRAMES = 30
CLOSER = 0.5
"""A camera that was moved is found again at least so much better."""

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Projected:
    """What `project` and `list_tiles` make of the Gaussians for one camera."""

    spots: Any
    depths: Any
    boxes: Any
    ranges: Any
    entries: Any


class Renderer:
    """The three kernels with the array library (NumPy or CuPy) whose arrays they take."""

    def __init__(self, target: Literal["openmp", "cuda"], built: Path | None = None) -> None:
        self.xp: ModuleType = __import__("cupy") if target == "cuda" else np
        made = adgen.load(built, target) if built else adgen.compile(HERE / "splat.cu", target=target)
        self._kernels = {kernel.signature.name: kernel for kernel in made}

    def project(self, gaussians: Arrays, camera: Camera, pose: Any) -> Projected:  # noqa: ANN401
        xp, arguments = self.xp, self._projecting(gaussians, camera, pose)
        made = self._made(len(gaussians["means"]))
        self._kernels["project"][_lines(arguments[0])](*arguments, *made)
        _, depths, boxes = made
        ends = xp.cumsum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), dtype=xp.int32)
        keys = xp.zeros(max(int(ends[-1]), 1), xp.uint64)
        entries = xp.zeros(len(keys), xp.int32)
        view = arguments[1]
        self._kernels["list_tiles"][_lines(len(ends))](len(ends), view, depths, boxes, ends, keys, entries)
        order = xp.argsort(keys)
        tiles = (keys[order] >> xp.uint64(32)).astype(xp.int64)
        across, down = _tiles(camera)
        bounds = xp.searchsorted(tiles[: int(ends[-1])], xp.arange(across * down + 1)).astype(xp.int32)
        ranges = xp.stack([bounds[:-1], bounds[1:]], 1).copy()
        return Projected(*made, ranges, entries[order])

    def blend(self, gaussians: Arrays, camera: Camera, seen: Projected) -> Any:  # noqa: ANN401
        image = self.xp.zeros((3, camera.height, camera.width), self.xp.float32)
        self._kernels["blend"][_tiles(camera), (TILE, TILE)](*self._blending(gaussians, camera, seen), image)
        return image

    def gradient(self, gaussians: Arrays, camera: Camera, pose: Any, weigh: Any) -> tuple[Any, Arrays]:  # noqa: ANN401
        """The picture, and the derivatives by the Gaussians and the pose of a loss; `weigh` gives its cotangent."""
        seen = self.project(gaussians, camera, pose)
        image = self.blend(gaussians, camera, seen)
        blended = self._kernels["blend"].vjp[_tiles(camera), (TILE, TILE)](
            *self._blending(gaussians, camera, seen),
            self.xp.zeros_like(image),
            cotangents={"image": weigh(image)},
            wrt=("spots", "colours"),
        )
        arguments = self._projecting(gaussians, camera, pose)
        wrt = ("means", "log_scales", "turns", "logits", "pose")
        projected = self._kernels["project"].vjp[_lines(arguments[0])](
            *arguments, *self._made(arguments[0]), cotangents={"spots": blended["spots"]}, wrt=wrt
        )
        return image, projected | {"colours": blended["colours"]}

    def launches(self, gaussians: Arrays, camera: Camera) -> dict[str, tuple[Any, Any, Any]]:
        """Of `project` and `blend`: what launches the kernel, and its gradient, on arrays that are there already.

        The third call gives the results their cotangents again, which a gradient leaves at zero.
        """
        xp, pose = self.xp, self.xp.asarray(camera.pose)
        seen, made = self.project(gaussians, camera, pose), self._made(len(gaussians["means"]))
        image = xp.zeros((3, camera.height, camera.width), xp.float32)
        calls = {
            "project": (_lines(len(gaussians["means"])), (*self._projecting(gaussians, camera, pose), *made)),
            "blend": ((_tiles(camera), (TILE, TILE)), (*self._blending(gaussians, camera, seen), image)),
        }
        arrays = {**gaussians, "pose": pose, "spots": made[0], "depths": made[1], "image": image}
        launches = {}
        for name, (where, arguments) in calls.items():
            kernel = self._kernels[name]
            shadows = {p.name: xp.full_like(arrays[p.name], 1e-3) for p in kernel.signature.shadowed}
            gradient = kernel.gradient[where].prepare(*arguments, shadows=shadows)
            launches[name] = kernel[where].prepare(*arguments), gradient, partial(_fill, shadows.values())
        return launches

    def _made(self, count: int) -> tuple[Any, Any, Any]:
        """Room for spots, depths and boxes."""
        xp = self.xp
        return xp.zeros((count, 6), xp.float32), xp.zeros(count, xp.float32), xp.zeros((count, 4), xp.int32)

    def _projecting(self, gaussians: Arrays, camera: Camera, pose: Any) -> tuple[Any, ...]:  # noqa: ANN401
        names = ("means", "log_scales", "turns", "logits")
        return (len(gaussians["means"]), _view(camera), pose, *(gaussians[name] for name in names))

    def _blending(self, gaussians: Arrays, camera: Camera, seen: Projected) -> tuple[Any, ...]:
        background = dict(zip("xyz", BACKGROUND, strict=True))
        return (_view(camera), seen.ranges, seen.entries, seen.spots, gaussians["colours"], background)


def _fill(cotangents: Iterable[Any]) -> None:
    for each in cotangents:
        each[...] = 1e-3


def _view(camera: Camera) -> dict[str, float]:
    return {"width": camera.width, "height": camera.height, "focal": camera.focal}


def _tiles(camera: Camera) -> tuple[int, int]:
    return adgen.cdiv(camera.width, TILE), adgen.cdiv(camera.height, TILE)


def _lines(count: int) -> tuple[int, int]:
    return adgen.cdiv(count, BLOCK), BLOCK


def begin(views: list[Camera], count: int, rng: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    """Gaussians at points that the pictures show, moved a little, in grey: what structure from motion would give."""
    points = np.concatenate([shown[there] for _, shown, there in map(picture, views)])
    means = points[rng.choice(len(points), count)] + rng.normal(0, 0.03, (count, 3))
    spacing = 2.5 / np.sqrt(count)
    return {
        "means": means.astype(np.float32),
        "log_scales": np.full((count, 3), np.log(spacing), np.float32),
        "turns": rng.standard_normal((count, 4)).astype(np.float32),
        "logits": np.zeros(count, np.float32),
        "colours": np.full((count, 3), 0.5, np.float32),
    }


def decibels(image: Any, wanted: Any) -> float:  # noqa: ANN401
    """The peak signal-to-noise ratio."""
    return float(-10 * np.log10(float(((image - wanted) ** 2).mean())))


def main() -> int:
    options = _options()
    renderer = Renderer(options.target, options.artifacts)
    xp, rng = renderer.xp, np.random.default_rng(0)
    views = cameras(options.views, options.size)
    wanted = [xp.asarray(picture(view)[0]) for view in views]
    poses = [xp.asarray(view.pose) for view in views]
    gaussians = {name: xp.asarray(value) for name, value in begin(views, options.gaussians, rng).items()}
    first = _quality(renderer, gaussians, views, poses, wanted)
    optimizer, started = Adam(xp, gaussians), time.perf_counter()
    for step in range(options.steps):
        chosen = int(rng.integers(len(views)))
        target = wanted[chosen]
        _, gradient = renderer.gradient(
            gaussians, views[chosen], poses[chosen], lambda image, target=target: 2 * (image - target) / image.size
        )
        decay = 0.1 ** (step / options.steps)
        optimizer.move(gaussians, gradient, {name: decay * rate for name, rate in RATES.items()})
    last = _quality(renderer, gaussians, views, poses, wanted)
    print(
        f"{options.gaussians} Gaussians, {options.views} pictures of {options.size} x {options.size}, {options.steps} "
        f"steps in {time.perf_counter() - started:.1f} s: {first:.1f} dB at first, {last:.1f} dB at last"
    )
    moved, found = pose_errors(renderer, gaussians, views[0], wanted[0])
    print(f"a camera that was moved by {moved:.3f} is found again to within {found:.3f}")
    if options.picture:
        _draw(options.picture, renderer, gaussians, views, poses, wanted)
    if options.film:
        _film(options.film, renderer, gaussians, options.size)
    return 0 if last > first + GAINED and found < CLOSER * moved else 1


def _quality(renderer: Renderer, gaussians: Arrays, views: Any, poses: Any, wanted: Any) -> float:  # noqa: ANN401
    """The mean over all pictures."""
    pairs = zip(views, poses, wanted, strict=True)
    return float(np.mean([decibels(rendered(renderer, gaussians, v, pose), image) for v, pose, image in pairs]))


def rendered(renderer: Renderer, gaussians: Arrays, camera: Camera, pose: Any) -> Any:  # noqa: ANN401
    return renderer.blend(gaussians, camera, renderer.project(gaussians, camera, pose))


def pose_errors(renderer: Renderer, gaussians: Arrays, camera: Camera, wanted: Any) -> tuple[float, float]:  # noqa: ANN401
    """How far a camera is from where the picture was taken, before and after gradient descent on its place."""
    xp, right = renderer.xp, renderer.xp.asarray(camera.pose)
    pose = {"pose": right.copy()}
    pose["pose"][:, 3] += xp.asarray([0.06, -0.04, 0.05], xp.float32)
    start, optimizer = pose["pose"].copy(), Adam(xp, pose)
    for step in range(POSE_STEPS):
        _, gradient = renderer.gradient(gaussians, camera, pose["pose"], lambda image: image - wanted)
        gradient["pose"][:, :3] = 0  # the camera only moves
        optimizer.move(pose, gradient, {"pose": POSE_RATE * (1 - step / POSE_STEPS)})
    return tuple(float(xp.linalg.norm(each[:, 3] - right[:, 3])) for each in (start, pose["pose"]))  # type: ignore[return-value]


def _draw(path: Path, renderer: Renderer, gaussians: Arrays, views: Any, poses: Any, wanted: Any) -> None:  # noqa: ANN401
    """What was wanted above what was learnt, for four of the views."""
    from matplotlib import image as images

    chosen = range(0, len(views), max(len(views) // 4, 1))
    learnt = [rendered(renderer, gaussians, views[i], poses[i]) for i in chosen]
    host = [[_on_host(each) for each in row] for row in ([wanted[i] for i in chosen], learnt)]
    rows = [np.concatenate([np.moveaxis(each, 0, -1) for each in row], 1) for row in host]
    images.imsave(path, np.clip(np.concatenate(rows), 0, 1))


def _film(path: Path, renderer: Renderer, gaussians: Arrays, size: int) -> None:
    """Once around what was learnt, from places that none of the pictures was taken from."""
    from PIL import Image

    frames = []
    for camera in cameras(2 * FRAMES, size)[1::2]:
        seen = _on_host(rendered(renderer, gaussians, camera, renderer.xp.asarray(camera.pose)))
        frames.append(Image.fromarray((255 * np.clip(np.moveaxis(seen, 0, -1), 0, 1)).astype(np.uint8)))
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=100, loop=0)


def _on_host(array: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    return np.asarray(array.get() if hasattr(array, "get") else array)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", choices=["openmp", "cuda"], default="openmp")
    parser.add_argument("--gaussians", type=int, default=600)
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--picture", type=Path, help="write what was wanted and what was learnt")
    parser.add_argument("--film", type=Path, help="write a GIF of a flight around what was learnt")
    parser.add_argument("--artifacts", type=Path, help="splat.cu compiled, where there is no compiler")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
