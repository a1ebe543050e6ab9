"""The compiled kernels of cuda_kernels/primitives."""

from __future__ import annotations

from enzyme_driver import resources
from enzyme_driver.tensor.store import KernelStore

C_TYPES = {"float32": "float", "float64": "double"}
_ESTIMATES = ("score", "perturb")
"""Kernels whose names begin so are estimates of derivatives, or draw noise; they are not differentiated themselves."""


def _activity(file: str, instance: str, constant: tuple[str, ...]) -> dict[str, str]:
    del file
    if instance.startswith(_ESTIMATES):
        names = {"score<": ("x", "weight", "gradient"), "score_": ("weight", "cotangent"), "pertur": ("z", "out")}
        return dict.fromkeys(names[instance[:6]], "const")
    return dict.fromkeys(constant, "const")


STORE = KernelStore(resources.primitives, _activity)
