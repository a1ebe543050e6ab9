"""The scene that is to be learnt: three spheres on a chequered plane, drawn by casting a ray through each pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SPHERES = (
    ((-0.7, -0.2, 0.5), 0.5, (0.9, 0.25, 0.2)),
    ((0.6, -0.5, 0.35), 0.35, (0.2, 0.55, 0.9)),
    ((0.3, 0.7, 0.45), 0.45, (0.95, 0.8, 0.25)),
)
"""Centre, radius and colour of each; z points up."""

LIGHT = np.array([0.4, -0.3, 0.87])
BACKGROUND = (0.75, 0.85, 0.95)
EXTENT = 1.6
"""The plane reaches so far from the origin."""


@dataclass(frozen=True)
class Camera:
    """Rows of the matrix from the world to the camera, [3, 4]; the focal length in pixels."""

    pose: Floats
    width: int
    height: int
    focal: float

    @property
    def rays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the camera is, and the directions through all pixels, [height, width, 3]."""
        turn, shift = self.pose[:, :3].astype(np.float64), self.pose[:, 3].astype(np.float64)
        x, y = np.meshgrid(np.arange(self.width) + 0.5, np.arange(self.height) + 0.5)
        seen = np.stack([x - self.width / 2, y - self.height / 2, np.full_like(x, self.focal)], -1) / self.focal
        return -turn.T @ shift, seen @ turn


def cameras(count: int, size: int) -> list[Camera]:
    """On a ring around the scene, looking at its middle, at two heights in turn."""
    made = []
    for number in range(count):
        angle = 2 * np.pi * number / count
        place = np.array([3 * np.cos(angle), 3 * np.sin(angle), 1.3 + 0.9 * (number % 2)])
        forward = np.array([0, 0, 0.25]) - place
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0, 0, 1])
        right /= np.linalg.norm(right)
        turn = np.stack([right, np.cross(forward, right), forward])
        pose = np.concatenate([turn, -(turn @ place)[:, None]], 1).astype(np.float32)
        made.append(Camera(pose, size, size, 1.2 * size))
    return made


def picture(camera: Camera) -> tuple[Floats, NDArray[Any], NDArray[np.bool_]]:
    """The colours [3, height, width], the points that the pixels show [height, width, 3], and whether there is one."""
    origin, rays = camera.rays
    distance = np.full(rays.shape[:2], np.inf)
    colour = np.broadcast_to(np.array(BACKGROUND), rays.shape).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        to_plane = np.where(rays[..., 2] < 0, -origin[2] / rays[..., 2], np.inf)
    ground = origin[:2] + np.where(np.isfinite(to_plane), to_plane, 1e3)[..., None] * rays[..., :2]
    on_plane = np.isfinite(to_plane) & (np.abs(ground).max(-1) < EXTENT)
    chequered = (np.floor(2 * ground).sum(-1) % 2)[..., None]
    colour[on_plane] = (0.35 + 0.3 * chequered * np.ones(3))[on_plane]
    distance[on_plane] = to_plane[on_plane]
    for centre, radius, own in SPHERES:
        hit = _hits(origin, rays, np.array(centre), radius)
        nearer = hit < distance
        normals = (origin + np.where(nearer, hit, 0)[..., None] * rays - centre) / radius
        shade = 0.35 + 0.65 * np.clip(normals @ LIGHT, 0, None)
        colour[nearer] = (shade[..., None] * np.array(own))[nearer]
        distance[nearer] = hit[nearer]
    there = np.isfinite(distance)
    points = origin + np.where(there, distance, 0)[..., None] * rays
    return np.moveaxis(colour, -1, 0).astype(np.float32).copy(), points, there


def _hits(origin: NDArray[Any], rays: NDArray[Any], centre: NDArray[Any], radius: float) -> NDArray[Any]:
    """How far along each ray the sphere is met first; infinity where it is not."""
    offset = origin - centre
    a, b, c = (rays * rays).sum(-1), rays @ offset, offset @ offset - radius**2
    inside = b * b - a * c
    found: NDArray[Any] = np.where(inside > 0, (-b - np.sqrt(np.maximum(inside, 0))) / a, np.inf)
    return found
