"""The op of PyTorch in C++ that runs programs: an eager call whose program is known needs no Python.

It is compiled once against PyTorch's stable ABI. Without it (an older PyTorch, no compiler) programs are run through
ctypes, as batches are.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ToolchainError
from enzyme_driver.frameworks.native import Headers, library_path
from enzyme_driver.frameworks.torch_run import accumulation, torch_dtype

if TYPE_CHECKING:
    from enzyme_driver.frameworks.native import Compiled

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


def torch_headers() -> Headers:
    """What libraries are compiled and linked with."""
    room = Path(torch.__file__).parent
    flags = (f"-DTORCH_TARGET_VERSION={_ABI}", f"-L{room / 'lib'}", "-Wl,--no-as-needed", "-ltorch_cpu")
    return Headers(room / "include", "torch/csrc/stable/c/shim.h", flags)


def is_there() -> bool:
    return _library() is not None


@cache
def _library() -> ctypes.CDLL | None:
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < _OLDEST:
        return None
    try:
        path = str(library_path("torch", torch_headers()))
    except ToolchainError:
        return None
    torch.ops.load_library(path)
    library = ctypes.CDLL(path)
    library.adgen_torch_learn.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    ]
    return library


@cache
def _op() -> Any:
    return torch.ops.adgen_native.run.default


def run_known(number: int, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results; nothing where no program is known for these tensors, or where it failed."""
    for tensor in tensors:
        if tensor is None or torch._C._functorch.is_legacy_batchedtensor(tensor):  # noqa: SLF001
            return []
    found: list[torch.Tensor] = _op()(number, accumulation(), tensors)
    return found


def learn(compiled: Compiled) -> None:
    """Know from now on the program of the call that this thread has just missed."""
    library = _library()
    if library is not None:
        words = array("q", compiled.words)
        shapes = array("q")
        for spec in compiled.results:
            shapes.extend((NUMBERS[str(torch_dtype(spec.dtype)).removeprefix("torch.")], len(spec.shape), *spec.shape))
        text = compiled.text.encode()
        library.adgen_torch_learn(words.buffer_info()[0], len(words), text, shapes.buffer_info()[0], len(shapes))
