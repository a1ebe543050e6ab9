"""The op of PyTorch in C++ that runs programs: an eager call whose program is known, and its gradient, need no Python.

It is compiled once for each version of PyTorch. Without it (an older PyTorch, no compiler) programs are run through
ctypes, as batches are.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ToolchainError
from enzyme_driver.frameworks.native import Headers, library_path
from enzyme_driver.frameworks.torch_run import TENSORS, accumulation, torch_dtype

if TYPE_CHECKING:
    from enzyme_driver.frameworks.native import Compiled

Gradient = Callable[[Sequence[Any], Sequence[Any], tuple[bool, ...]], Sequence[Any]]
"""Of the inputs, the cotangents and whether an input needs one: a gradient an input, or None."""
Mapped = Callable[[int, Sequence[Any], Sequence[Any], tuple[bool, ...], Sequence[Any]], Sequence[Any]]
"""The same of so many examples; at the end are the axes along which inputs and cotangents have one each, or None."""

_OLDEST = (2, 10)
_ABI = "0x020a000000000000"
"""That of the oldest release."""

NUMBERS = {
    "uint8": 0,
    "int8": 1,
    "int16": 2,
    "int32": 3,
    "int64": 4,
    "float16": 5,
    "float32": 6,
    "float64": 7,
    "complex64": 9,
    "complex128": 10,
    "bool": 11,
    "bfloat16": 15,
}
"""PyTorch's own numbers of dtypes, which its stable ABI fixes."""


def torch_headers(*, stable: bool) -> Headers:
    """What libraries are compiled and linked with: those of PyTorch's stable ABI, or of this version alone."""
    room = Path(torch.__file__).parent
    abi = (f"-DTORCH_TARGET_VERSION={_ABI}",) if stable else ("-std=c++20", "-lc10")
    flags = (*abi, f"-L{room / 'lib'}", "-Wl,--no-as-needed", "-ltorch_cpu")
    return Headers(
        room / "include", "torch/headeronly/version.h", flags, "" if stable else torch.__version__.partition("+")[0]
    )


def is_there() -> bool:
    return _library() is not None


@cache
def _library() -> ctypes.CDLL | None:
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < _OLDEST:
        return None
    try:
        path = str(library_path("torch", torch_headers(stable=False)))
    except ToolchainError:
        return None
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.adgen_torch_learn.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p),
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64),
    ]
    for key in ("CompositeImplicitAutograd", "Batched"):
        _ours.impl("gradient", _gradient, key)
    torch.library.register_vmap("adgen_native::gradient", _mapped, lib=_ours)
    return library


_ours = torch.library.Library("adgen_native", "FRAGMENT")
_gradients: list[tuple[Gradient, Mapped]] = []


@cache
def _op() -> Any:
    return torch.ops.adgen_native.run.default._op  # noqa: SLF001  (what it calls itself)


def run_known(number: int, tensors: Sequence[Any], wrt: int = 0, given: int = 0) -> list[torch.Tensor]:
    """The results; nothing where no program is known for these tensors, or where it failed.

    `number` is that of `known_as`. With `wrt`, a bit for each input asked for, it is the vector-Jacobian product:
    `given` has a bit for each output whose cotangent is among the tensors. Where gradients are recorded, that of a
    primal is.
    """
    for tensor in tensors:
        if type(tensor) not in TENSORS:
            _forget()
            return []
    found: list[torch.Tensor] = _op()(number, wrt, given, accumulation(), tensors)
    return found


def _forget() -> None:
    """A call that was not looked up has missed nothing, whatever this thread has missed before it."""
    library = _library()
    if library is not None:
        library.adgen_torch_forget()


def learn(compiled: Compiled, differentiable: int = 0) -> None:
    """Know from now on the program of the call that this thread has just missed.

    `differentiable` has a bit for each input of a primal that may have a derivative.
    """
    library = _library()
    if library is not None:
        words = array("q", compiled.words)
        shapes = array("q")
        for spec in compiled.results:
            shapes.extend((NUMBERS[str(torch_dtype(spec.dtype)).removeprefix("torch.")], len(spec.shape), *spec.shape))
        text, room = compiled.text.encode(), shapes.buffer_info()[0]
        library.adgen_torch_learn(words.buffer_info()[0], len(words), text, room, len(shapes), differentiable)


def known_as(gradient: Gradient, mapped: Mapped) -> int:
    """A number that stands for an operator with certain values; the functions are asked for what C++ does not know."""
    _gradients.append((gradient, mapped))
    return len(_gradients) - 1


def bits(mask: Sequence[bool]) -> int:
    return sum(1 << place for place, asked in enumerate(mask) if asked)


def _gradient(number: int, wrt: int, operands: Sequence[Any], cotangents: Sequence[Any]) -> list[torch.Tensor]:
    gradient, _ = _gradients[number]
    return [each for each in gradient(operands, cotangents, _mask(wrt, len(operands))) if each is not None]


def _mapped(info: Any, dims: Any, number: int, wrt: int, operands: Sequence[Any], cotangents: Sequence[Any]) -> Any:
    axes = [*(dims[2] or [None] * len(operands)), *(dims[3] or [None] * len(cotangents))]
    _, mapped = _gradients[number]
    found = mapped(info.batch_size, operands, cotangents, _mask(wrt, len(operands)), axes)
    return list(found), [0] * len(found)


def _mask(word: int, count: int) -> tuple[bool, ...]:
    return tuple([bool(word >> place & 1) for place in range(count)])
