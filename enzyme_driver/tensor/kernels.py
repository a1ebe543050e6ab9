"""The compiled kernels of the operators: made when they are first needed, or loaded from a folder built before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from enzyme_driver import resources
from enzyme_driver.model import Target
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.tensor.store import KernelStore

C_TYPES = {"float32": "float", "float64": "double"}
FACTORS = {**C_TYPES, "float16": "half", "uint16": "__nv_bfloat16"}
"""Of what products on Tensor Cores take as well; bfloat16 as 16-bit words."""
FORWARD = "matmul_tensor.cu"
"""Whose kernels have no compiled gradient: a rule is two of their products."""
OWNED = {"sum.cu", "max.cu", "transpose.cu"}
"""Files in whose kernels one thread alone uses an element of `a`, which indices of two axes do not prove."""
UNARY, BINARY = ("copy", "negate", "exp", "log", "relu"), ("add", "subtract", "multiply", "divide", "power")
READ_ONCE = {**{f"{name}.cu": ("a",) for name in UNARY}, **{f"{name}.cu": ("a", "b") for name in BINARY}}
"""Files whose kernels use each element of these arrays in one place: the gradient writes the whole of their shadows."""


def use_built(folder: str | Path | None) -> None:
    """From now on load kernels from a folder that `build` made, on a machine without compilers; None: compile them."""
    _STORE.use_built(folder)


def kernel(target: Target, file: str, template: str, dtype: str, constant: tuple[str, ...] = ()) -> Kernel:
    """The kernel for numbers of `dtype`; its gradient has no shadows for the inputs named in `constant`.

    `template` is its name in C++ with `{}` for the type.
    """
    return _STORE.kernel(target, file, template.format(FACTORS[dtype]), constant)


def build(folder: str | Path, wanted: Iterable[tuple[str, str, str, tuple[str, ...]]], *, arch: str = "sm_90") -> int:
    """Compile kernels (file, template, dtype, constant inputs) for both targets into `folder`; how many there are."""
    count = 0
    for file, template, dtype, constant in wanted:
        _STORE.build(folder, file, template.format(FACTORS[dtype]), constant, arch=arch)
        count += 1
    return count


def _activity(file: str, instance: str, constant: tuple[str, ...]) -> dict[str, str]:
    """A gradient comes after its primal, whose result is there, and its cotangent is no longer needed behind it."""
    del instance
    if file == FORWARD:
        return dict.fromkeys(("a", "b", "out"), "const")
    owned = {"a": "owned"} if file in OWNED else {}
    fresh = dict.fromkeys(READ_ONCE.get(file, ()), "fresh")
    return {**owned, **fresh, **dict.fromkeys(constant, "const"), "out": "discarded"}


_STORE = KernelStore(resources.operators, _activity)
