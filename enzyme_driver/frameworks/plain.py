"""Operators on arrays of NumPy and CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.frameworks.code import HOST, Place
from enzyme_driver.frameworks.plan import Spec, dtype_name
from enzyme_driver.runtime.call.accumulation import WAYS, wanted_accumulation

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator
    from enzyme_driver.frameworks.native import Compiled
    from enzyme_driver.frameworks.verified import Unverified

Arrays = Sequence[Any]


def called(operator: Operator, arrays: Arrays, statics: Sequence[Any]) -> Any:
    """The outputs: one array, or a tuple."""
    library = _library(operator, arrays)
    given = [None if value is None else library.plain(value) for value in arrays]
    compiled = operator.primal(_specs(given), statics, library.place)
    found = library.run(compiled, [value for value in given if value is not None])
    return found[0] if operator.results == 1 else tuple(found)


def product(
    operator: Operator,
    arrays: Arrays,
    statics: Sequence[Any],
    cotangents: Any,
    wrt: Iterable[str] | str | None,
) -> dict[str, Any]:
    """The vector-Jacobian product by the names of inputs."""
    library = _library(operator, arrays)
    given = [None if value is None else library.plain(value) for value in arrays]
    specs = _specs(given)
    seeds = list(cotangents) if isinstance(cotangents, (tuple, list)) else [cotangents]
    results = operator.primal(specs, statics, library.place).results
    if len(seeds) != len(results):
        raise ArgumentError(
            f"{operator.name} has {len(results)} outputs, got {len(seeds)} cotangents", hint="None has none"
        )
    seeds = [None if seed is None else library.plain(seed) for seed in seeds]
    for seed, spec in zip(seeds, results, strict=True):
        if seed is not None and Spec(tuple(seed.shape), dtype_name(seed.dtype)) != spec:
            raise ArgumentError(
                f"{operator.name}: a cotangent of {seed.dtype}{list(seed.shape)} for {spec}", hint="as the output"
            )
    names = _asked(operator, specs, wrt)
    mask = tuple(each.name in names for each in operator.arrays)
    compiled = operator.reverse(specs, statics, library.place, mask, tuple(seed is not None for seed in seeds))
    if compiled.unverified and not library.is_capturing():
        compiled.unverified.look([value for value in given if value is not None], library)
    operands = [value for value in (*given, *seeds) if value is not None]
    return dict(zip(names, library.run(compiled, operands), strict=True))


def _asked(operator: Operator, specs: Sequence[Spec | None], wrt: Iterable[str] | str | None) -> list[str]:
    pairs = zip(operator.arrays, operator.differentiable, specs, strict=True)
    able = [each.name for each, allowed, spec in pairs if allowed and spec is not None and spec.differentiable]
    asked = set(able) if wrt is None else {wrt} if isinstance(wrt, str) else set(wrt)
    for name in sorted(asked - set(able)):
        raise ArgumentError(f"{operator.name}: wrt {name!r} has no derivative", hint=f"there are: {', '.join(able)}")
    return [name for name in able if name in asked]


def _specs(arrays: Arrays) -> tuple[Spec | None, ...]:
    return tuple(None if a is None else Spec(tuple(a.shape), dtype_name(a.dtype)) for a in arrays)


class _Numpy:
    place = HOST

    def is_capturing(self) -> bool:
        return False

    def zeros(self, spec: Spec) -> Any:
        return np.zeros(spec.shape, _numpy_dtype(spec))

    def copy(self, array: Any) -> Any:
        return array.copy()

    def plain(self, value: Any) -> Any:
        found = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))

    def run(self, compiled: Compiled, operands: Arrays) -> list[Any]:
        made = [np.empty(spec.shape, _numpy_dtype(spec)) for spec in compiled.results]
        compiled.run([array.ctypes.data for array in (*operands, *made)], way=WAYS[wanted_accumulation()])
        return made


def _numpy_dtype(spec: Spec) -> Any:
    if spec.dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return spec.dtype


class _Cupy:
    def __init__(self, cupy: Any, array: Any) -> None:
        from enzyme_driver.runtime.backends.driver import attribute_of

        self._cupy = cupy
        self._device = int(array.device.id)
        found = [attribute_of(self._device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")]
        self.place = Place("cuda", (found[0], found[1]))

    def is_capturing(self) -> bool:
        """Whether what is launched now goes into a CUDA graph."""
        return bool(self._cupy.cuda.get_current_stream(self._device).is_capturing())

    def zeros(self, spec: Spec) -> Any:
        with self._cupy.cuda.Device(self._device):
            return self._cupy.zeros(spec.shape, spec.dtype)

    def copy(self, array: Any) -> Any:
        with self._cupy.cuda.Device(self._device):
            return array.copy()

    def plain(self, value: Any) -> Any:
        return self._cupy.ascontiguousarray(value) if value.ndim else value

    def run(self, compiled: Compiled, operands: Arrays) -> list[Any]:
        kept: list[Any] = []
        with self._cupy.cuda.Device(self._device):
            made = [self._cupy.empty(spec.shape, spec.dtype) for spec in compiled.results]
            stream = self._cupy.cuda.get_current_stream(self._device).ptr
            addresses = [array.data.ptr for array in (*operands, *made)]
            compiled.run(addresses, device=self._device, stream=stream, allocate=self._allocate(kept))
        return made

    def _allocate(self, kept: list[Any]) -> Callable[[object, int], int]:
        def allocate(_: object, size: int) -> int:
            kept.append(self._cupy.empty(size, np.uint8))
            return int(kept[-1].data.ptr)

        return allocate


def _library(operator: Operator, arrays: Arrays) -> _Numpy | _Cupy:
    import sys

    cupy = sys.modules.get("cupy")
    on_gpu = [value for value in arrays if cupy is not None and isinstance(value, cupy.ndarray)]
    if on_gpu and cupy is not None:
        return _Cupy(cupy, on_gpu[0])
    for each, value in zip(operator.arrays, arrays, strict=True):
        if value is None and not each.optional:
            raise ArgumentError(f"{operator.name}: argument {each.name!r} is None", hint="give an array")
    return _Numpy()


def verify(unverified: Unverified, arrays: Arrays) -> None:
    """Look at gradients with arrays of JAX; on a GPU CuPy is needed for what is made there."""
    import importlib.util

    if not hasattr(arrays[0], "__cuda_array_interface__"):
        unverified.look([np.array(each, order="C") for each in arrays], _Numpy())
    elif importlib.util.find_spec("cupy"):
        import cupy

        seen = [cupy.asarray(each) for each in arrays]
        unverified.look(seen, _Cupy(cupy, seen[0]))
