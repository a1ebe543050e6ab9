"""Splatting over views: each process renders its own pictures; the derivatives by the Gaussians are summed up."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from processes import EXAMPLES, Found, Kind, Place, alone, differs, over, program, run

sys.path.insert(0, str(EXAMPLES / "splatting"))

from adam import Adam
from scene import Camera, cameras, picture

GAUSSIANS, SIZE, VIEWS, STEPS = 300, 40, 4, 15
LARGEST = 1e-4
"""Sums are of single precision, and atomics on a GPU add in any order."""
GAINED = 1.0
"""Decibels by which the pictures become better at least."""


class Work:
    """The Gaussians in this process, and its views of the scene."""

    def __init__(self, place: Place, gaussians: int, own: list[Camera], count: int) -> None:
        """`own` of `count` views, as many in each process."""
        self.splatting: Any = importlib.import_module("train")
        file = program("splatting/splat.cu")
        self.place, self.renderer = place, self.splatting.Renderer(place.target, None if file.suffix else file)
        xp = self.renderer.xp
        self.views, self.count = own, count
        self.wanted = [xp.asarray(picture(view)[0]) for view in self.views]
        self.poses = [xp.asarray(view.pose) for view in self.views]
        begun = self.splatting.begin(cameras(8, min(own[0].width, 200)), gaussians, np.random.default_rng(0))
        drawn = np.random.default_rng(1).normal(0, 0.3, begun["log_scales"].shape)
        begun["log_scales"] += drawn.astype(np.float32)  # of spheres the derivatives by turns are nothing but rounding
        self.arrays = {name: xp.asarray(value) for name, value in begun.items()}
        self.adam = Adam(xp, self.arrays)

    def gradient(self) -> tuple[float, dict[str, Any]]:
        """The mean squared error of all processes' pictures, and its derivatives."""
        xp = self.renderer.xp
        total, error = {name: xp.zeros_like(value) for name, value in self.arrays.items()}, xp.zeros(1, xp.float32)
        for view, pose, wanted in zip(self.views, self.poses, self.wanted, strict=True):
            image, found = self.renderer.gradient(
                self.arrays, view, pose, lambda image, wanted=wanted: 2 * (image - wanted) / (image.size * self.count)
            )
            error += ((image - wanted) ** 2).mean() / self.count
            for name in total:
                total[name] += found[name]
        for value in total.values():
            self.place.summed(value)
        return float(self.place.summed(error)[0]), total

    def step(self) -> float:
        error, found = self.gradient()
        self.adam.move(self.arrays, found, self.splatting.RATES)
        return error


def trained(place: Place) -> Found:
    work = Work(place, GAUSSIANS, cameras(VIEWS, SIZE)[place.part(VIEWS)], VIEWS)
    first = work.gradient()[1]
    errors = [work.step() for _ in range(STEPS)]
    host = {name: np.asarray(value.get() if hasattr(value, "get") else value) for name, value in first.items()}
    return {**host, "decibels": -10 * np.log10(np.array(errors))}


def timed(place: Place, times: int, gaussians: int, size: int, views: int) -> Callable[[], object]:
    """A step of training: `times` as many pictures as `views`, which are the same in each process where it has all."""
    every = cameras(views, size)
    return Work(place, gaussians, every if times == place.size else every[place.part(views)], times * views).step


def with_torch(kind: Kind, size: int) -> bool:
    wanted = trained(alone(kind))
    found = run(trained, size, kind)
    where = over(size, kind)
    names = [name for name in wanted if name != "decibels"]
    failed = [
        differs(found[-1][name], wanted[name], LARGEST, f"splatting over views, {name}, {where}") for name in names
    ]
    gained = found[0]["decibels"]
    print(f"splatting over views: {gained[0]:.1f} dB at first, {gained[-1]:.1f} after {STEPS} steps")
    return any(failed) or not gained[-1] > gained[0] + GAINED
