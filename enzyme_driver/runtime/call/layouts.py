"""What a type looks like in memory: the signature's types compared with NumPy's and those of ctypes."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from enzyme_driver.errors import ArtifactError
from enzyme_driver.model import DataType


class Leaf(NamedTuple):
    """A scalar inside a type; `offset` and `size` in bytes.

    `kind` is NumPy's letter (f, i, u, b), p for a pointer, B for bfloat16, or V where it is unknown.
    """

    offset: int
    kind: str
    size: int


Layout = tuple[int, tuple[Leaf, ...]]
"""Total size in bytes and the scalars in the order of their offsets."""

_KINDS = {"float": "f", "int": "i", "uint": "u", "bool": "b", "pointer": "p", "opaque": "V"}
_BFLOAT16 = "bfloat16"
_POINTERS = (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int).__mro__[1])
_CUDA_VECTOR = re.compile(r"u?(char|short|int|long|longlong)[24]|(float|double)[24]|u?longlong2")
_VECTOR_ALIGNMENT = 16


@lru_cache(maxsize=1024)
def declared_layout(dtype: DataType) -> Layout:
    return dtype.size, tuple(sorted(_declared_leaves(dtype, 0)))


def _declared_leaves(dtype: DataType, base: int) -> Iterator[Leaf]:
    if dtype.kind != "struct":
        kind = "B" if dtype.name == _BFLOAT16 else _KINDS[dtype.kind]
        yield Leaf(base, kind, dtype.size)
    for member in dtype.fields:
        for index in range(member.count):
            yield from _declared_leaves(member.type, base + member.offset + index * member.type.size)


def numpy_layout(dtype: np.dtype[Any]) -> Layout:
    return dtype.itemsize, tuple(sorted(_numpy_leaves(dtype, 0)))


def _numpy_leaves(dtype: np.dtype[Any], base: int) -> Iterator[Leaf]:
    if dtype.subdtype is not None:
        inner, _ = dtype.subdtype
        for start in range(0, dtype.itemsize, inner.itemsize):
            yield from _numpy_leaves(inner, base + start)
    elif dtype.fields is not None:
        for inner, offset, *_ in dtype.fields.values():
            if not _is_padding(inner):
                yield from _numpy_leaves(inner, base + offset)
    elif dtype.kind == "c":
        half = dtype.itemsize // 2
        yield from (Leaf(base, "f", half), Leaf(base + half, "f", half))
    else:
        kind = "B" if dtype.name == _BFLOAT16 else dtype.kind
        yield Leaf(base, kind if dtype.isnative else "V", dtype.itemsize)


def _is_padding(dtype: np.dtype[Any]) -> bool:
    """Array interfaces spell the gaps of a struct as members of type void."""
    return dtype.kind == "V" and dtype.fields is None and dtype.subdtype is None and dtype.name != _BFLOAT16


def ctypes_layout(kind: type[Any]) -> Layout:
    return ctypes.sizeof(kind), tuple(sorted(_ctypes_leaves(kind, 0)))


def _ctypes_leaves(kind: Any, base: int) -> Iterator[Leaf]:  # noqa: ANN401  (ctypes has no common public base)
    size = ctypes.sizeof(kind)
    if issubclass(kind, ctypes.Structure):
        for name, inner, *_ in kind._fields_:
            yield from _ctypes_leaves(inner, base + getattr(kind, name).offset)
    elif issubclass(kind, ctypes.Array):
        for index in range(kind._length_):
            yield from _ctypes_leaves(kind._type_, base + index * ctypes.sizeof(kind._type_))
    elif issubclass(kind, _POINTERS):
        yield Leaf(base, "p", size)
    else:
        yield Leaf(base, np.dtype(kind).kind, size)


def same_layout(declared: Layout, given: Layout) -> bool:
    """Whether values of the given layout can be read as the declared one.

    Addresses may be given as integers, and bfloat16, which NumPy does not have by itself, as 16-bit words.
    """
    (size, leaves), (other_size, others) = declared, given
    return size == other_size and len(leaves) == len(others) and all(map(_same_leaf, leaves, others))


def _same_leaf(declared: Leaf, given: Leaf) -> bool:
    kinds = {"p": "piu", "B": "Bu"}.get(declared.kind, declared.kind)
    return declared[::2] == given[::2] and given.kind in kinds


def common_leaf(dtype: DataType) -> Leaf | None:
    """The one scalar type that fills the struct without a gap, or None."""
    size, leaves = declared_layout(dtype)
    first = leaves[0] if leaves else None
    if first is None or any(leaf != Leaf(i * first.size, first.kind, first.size) for i, leaf in enumerate(leaves)):
        return None
    return first if size == len(leaves) * first.size else None


@lru_cache(maxsize=1024)
def alignment(dtype: DataType) -> int:
    """The address of an array of `dtype` must be a multiple of this many bytes."""
    if _CUDA_VECTOR.fullmatch(dtype.name):
        return min(dtype.size, _VECTOR_ALIGNMENT)
    sizes = [leaf.size & -leaf.size for leaf in declared_layout(dtype)[1]]  # a union's alignment divides its size
    return min(max(sizes, default=1) or 1, _VECTOR_ALIGNMENT)


@lru_cache(maxsize=1024)
def numpy_dtype(dtype: DataType) -> np.dtype[Any]:
    """The NumPy type of one value. Raises ArtifactError where NumPy has none."""
    try:
        return _numpy_struct(dtype) if dtype.kind == "struct" else _numpy_scalar(dtype)
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"type {dtype.name!r} of {dtype.size} bytes has no NumPy counterpart: {error}") from None


def _numpy_scalar(dtype: DataType) -> np.dtype[Any]:
    if dtype.name == _BFLOAT16:
        bfloat16: np.dtype[Any] = np.dtype(_ml_dtypes().bfloat16)
        return bfloat16
    if dtype.kind == "opaque":
        return np.dtype((np.void, dtype.size))
    letter = "u" if dtype.kind == "pointer" else _KINDS[dtype.kind]
    return np.dtype(f"{letter}{dtype.size}")


def _ml_dtypes() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("ml_dtypes")
    except ImportError:
        raise TypeError("bfloat16 needs the package ml_dtypes") from None


def _numpy_struct(dtype: DataType) -> np.dtype[Any]:
    names: list[str] = []
    for index, member in enumerate(dtype.fields):
        names.append(member.name if member.name and member.name not in names else f"field_{index}")
    formats = [
        (numpy_dtype(member.type), (member.count,)) if member.count > 1 else numpy_dtype(member.type)
        for member in dtype.fields
    ]
    offsets = [member.offset for member in dtype.fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": dtype.size})
