"""The compiled kernels of cuda_kernels/primitives."""

from __future__ import annotations

from enzyme_driver import resources
from enzyme_driver.tensor.store import KernelStore

C_TYPES = {"float32": "float", "float64": "double"}
_FORWARD = {
    "score<": ("x", "weight", "gradient"),
    "score_tensor<": ("x", "weight", "gradient"),
    "score_cotangent<": ("weight", "cotangent"),
    "perturb<": ("z", "out"),
    "dense_noise_tensor<": ("x", "theta", "out"),
}
"""The arrays of kernels that estimate derivatives or draw noise, by how their names begin; they have no gradient."""


def _activity(file: str, instance: str, constant: tuple[str, ...]) -> dict[str, str]:
    del file
    for start, names in _FORWARD.items():
        if instance.startswith(start):
            return dict.fromkeys(names, "const")
    return dict.fromkeys(constant, "const")


STORE = KernelStore(resources.primitives, _activity)
