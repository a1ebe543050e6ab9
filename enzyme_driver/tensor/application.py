"""One call of an operator's kernel, and of its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.tensor.blocks import Run, table
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.kernels import READ_ONCE, kernel
from enzyme_driver.tensor.launches import Launch
from enzyme_driver.tensor.operators import Operator, Shape

Array = Any
KNOWN = 4096


@dataclass(frozen=True)
class Application:
    """An operator that was applied to arrays."""

    operator: Operator
    device: Device
    inputs: tuple[Array, ...]
    out: Array
    extents: tuple[int, ...]
    launch: Launch

    @property
    def writes_shadows(self) -> bool:
        """Whether `backward` writes shadows, whatever they held, and does not add to them."""
        return self.operator.file in READ_ONCE

    def handed_on(self, wanted: Sequence[bool]) -> list[bool]:
        """The wanted inputs whose cotangent is the result's: the compiler has seen that they are only added to it.

        None where the gradient by the other ones might change the cotangent.
        """
        if self.operator.reverse is not None or not self.writes_shadows:
            return [False] * len(wanted)
        signature = self._compiled().signature
        handed = [
            asked and signature[name].added_to == "out"
            for name, asked in zip(self.operator.inputs, wanted, strict=True)
        ]
        computed = [asked and not passed for asked, passed in zip(wanted, handed, strict=True)]
        return handed if not any(computed) or self.keeps_cotangent(computed) else [False] * len(wanted)

    def keeps_cotangent(self, wanted: Sequence[bool]) -> bool:
        """Whether `backward` with shadows of these inputs is known to leave the result's cotangent as it is."""
        if self.operator.reverse is not None:
            return False
        names = zip(self.operator.inputs, wanted, strict=True)
        return "out" in self._compiled(*[name for name, asked in names if not asked]).kept_shadows

    def _compiled(self, *constant: str) -> Kernel:
        return kernel(self.device.target, self.operator.file, self.launch.template, self.out.dtype.name, constant)

    def backward(self, cotangent: Array, shadows: Sequence[Array | None]) -> None:
        """Add to the shadow of each input, or write it; None for one without. The result's `cotangent` is consumed."""
        if self.operator.reverse is not None:
            self.operator.reverse(self, cotangent, shadows)
            return
        wanted = {
            name: shadow for name, shadow in zip(self.operator.inputs, shadows, strict=True) if shadow is not None
        }
        compiled = self._compiled(*[name for name in self.operator.inputs if name not in wanted])
        with self.device.running():
            compiled.gradient[self.launch.grid, self.launch.block](
                *self.inputs, self.out, *self.extents, shadows={**wanted, "out": cotangent}
            )


def apply(operator: Operator, device: Device, inputs: tuple[Array, ...], launch: Launch | None = None) -> Application:
    """Run the kernel into a new array, with the fastest launch or the one that is given."""
    result, extents = _sizes(operator, tuple(array.shape for array in inputs))
    out = device.arrays.empty(result, np.float32 if operator.rounded else inputs[0].dtype)
    inputs = tuple(map(operator.rounded, inputs)) if operator.rounded else inputs
    dtype = inputs[0].dtype.name

    def run(tried: Launch) -> None:
        compiled = kernel(device.target, operator.file, tried.template, dtype)
        with device.running():
            compiled[tried.grid, tried.block, None, tried.shared](*inputs, out, *extents)

    chosen = launch or _fastest(operator, device, extents, dtype, run)
    run(chosen)
    return Application(operator, device, inputs, out, extents, chosen)


@lru_cache(maxsize=KNOWN)
def _sizes(operator: Operator, shapes: tuple[Shape, ...]) -> tuple[Shape, tuple[int, ...]]:
    """The shape of the result, and the extents that the kernel takes."""
    return operator.result(*shapes), operator.extents(*shapes)


_launches: dict[tuple[Operator, Device, tuple[int, ...], str], Launch] = {}


def _fastest(operator: Operator, device: Device, extents: tuple[int, ...], dtype: str, run: Run) -> Launch:
    key = (operator, device, extents, dtype)
    if key not in _launches:
        choices = tuple(operator.choices(device.target == "cuda", extents))
        what = f"{operator.file} {choices[0].template.format(dtype)}"
        _launches[key] = table().best(what, device, extents, choices, run)
    return _launches[key]
