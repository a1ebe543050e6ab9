"""Arrays of any library as addresses, checked against the declared parameter and never copied."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import DataType
from enzyme_driver.runtime.call.layouts import Layout, common_leaf, declared_layout, numpy_layout, same_layout
from enzyme_driver.runtime.call.slots import Slot

_BFLOAT16 = DataType("bfloat16", "float", 2)  # which NumPy does not have
_DLPACK_CPU = 1
_DLPACK_GPU = frozenset({2, 13})  # kDLCUDA, kDLCUDAManaged
_MOST_MEMBERS = 8  # in a message


@dataclass(slots=True, eq=False)
class ArrayView:
    """Where an array lies and what is in it.

    `dtype` spells the element's type, `layout` describes it; `device` is the GPU's number where the array says it;
    `stream` is the handle of the stream on which its content is produced, where the array says that. Nobody changes
    one; it is not frozen because a call makes many, and freezing triples the time that takes.
    """

    address: int
    shape: tuple[int, ...]
    dtype: str
    layout: Layout
    contiguous: bool
    readonly: bool
    owner: object
    device: int | None = None
    stream: int | None = None
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.nbytes = prod(self.shape) * self.layout[0]

    def overlaps(self, other: ArrayView) -> bool:
        return not apart([self, other])


def apart(views: Iterable[ArrayView]) -> bool:
    """Whether no two of the arrays share memory."""
    spans = sorted((view.address, view.address + view.nbytes) for view in views if view.nbytes)
    return all(end <= start for (_, end), (start, _) in pairwise(spans))


def host_view(value: object, slot: Slot) -> ArrayView:
    """The view of an array in host memory: NumPy's, or one that speaks `__array_interface__` or DLPack."""
    array = value if isinstance(value, np.ndarray) else _as_numpy(value, slot)
    name, layout = _seen(array.dtype)
    flags = array.flags
    return ArrayView(
        address=array.__array_interface__["data"][0],
        shape=array.shape,
        dtype=name,
        layout=layout,
        contiguous=flags.c_contiguous,
        readonly=not flags.writeable,
        owner=array,
    )


@lru_cache(maxsize=256)
def _seen(dtype: np.dtype[Any]) -> tuple[str, Layout]:
    return str(dtype), numpy_layout(dtype)


def _as_numpy(value: object, slot: Slot) -> np.ndarray[Any, Any]:
    if isinstance(value, np.generic) or value is None:
        raise slot.wrong(_described(value), _none_hint(slot) if value is None else _array_hint(slot))
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    kind = _dlpack_device(value)
    if is_on_gpu(value) or (kind is not None and kind != _DLPACK_CPU):
        raise slot.wrong(_described(value), "copy it to the host first: cupy.asnumpy(x), tensor.cpu() or the like")
    if kind is None:
        raise slot.wrong(_described(value), _array_hint(slot))
    try:
        return np.from_dlpack(value)  # type: ignore[arg-type]
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _not_exported(value, slot, error) from None


def cuda_view(value: object, slot: Slot) -> ArrayView:
    """The view of an array in GPU memory: CuPy's, PyTorch's, or through `__cuda_array_interface__` or DLPack."""
    known = _cupy_view(value) or _torch_view(value)
    if known is not None:
        return known
    try:
        interface = value.__cuda_array_interface__  # type: ignore[attr-defined]
    except AttributeError:
        interface = None
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _not_exported(value, slot, error) from None
    if interface is not None:
        return _interface_view(value, interface)
    if _dlpack_device(value) in _DLPACK_GPU:
        return _dlpack_view(value, slot)
    if value is None:
        raise slot.wrong(_described(value), _none_hint(slot))
    raise slot.wrong(_described(value), _to_gpu_hint(value))


def _cupy_view(value: Any) -> ArrayView | None:  # noqa: ANN401
    """What the interface says as well, in a fraction of the time."""
    cupy = sys.modules.get("cupy")
    if cupy is None or type(value) is not cupy.ndarray:
        return None
    name, layout = _seen(value.dtype)
    return ArrayView(
        address=value.data.ptr,
        shape=value.shape,
        dtype=name,
        layout=layout,
        contiguous=value.flags.c_contiguous,
        readonly=False,
        owner=value,
        device=value.data.device_id,
        stream=cupy.cuda.get_current_stream().ptr,
    )


def _torch_view(value: Any) -> ArrayView | None:  # noqa: ANN401
    """Of plain tensors; the others have the interface, or refuse it with a reason."""
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not torch.Tensor or not value.is_cuda or value.requires_grad:
        return None
    seen = _torch_seen(value.dtype)
    if seen is None or value.layout is not torch.strided or value.is_conj() or value.is_neg():
        return None
    name, layout = seen
    return ArrayView(
        address=value.data_ptr(),
        shape=tuple(value.shape),
        dtype=name,
        layout=layout,
        contiguous=value.is_contiguous(),
        readonly=False,
        owner=value,
        device=value.get_device(),
    )


@lru_cache(maxsize=64)
def _torch_seen(dtype: object) -> tuple[str, Layout] | None:
    """None for types that NumPy does not have."""
    name = str(dtype).removeprefix("torch.")
    if name == _BFLOAT16.name:
        return name, declared_layout(_BFLOAT16)
    try:
        return _seen(np.dtype(name))
    except TypeError:
        return None


def _interface_view(value: object, interface: dict[str, Any]) -> ArrayView:
    dtype = interface_dtype(value, interface)
    name, layout = _seen(dtype)
    if dtype.kind == "V" and str(getattr(value, "dtype", "")).endswith(_BFLOAT16.name):
        layout, name = declared_layout(_BFLOAT16), _BFLOAT16.name
    address, readonly = interface["data"]
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    return ArrayView(
        address=address or 0,
        shape=shape,
        dtype=name,
        layout=layout,
        contiguous=strides is None or _is_contiguous(shape, strides, dtype.itemsize),
        readonly=bool(readonly) or is_jax(value),
        owner=value,
        stream=interface.get("stream"),
    )


def interface_dtype(array: object, interface: dict[str, Any]) -> np.dtype[Any]:
    """The type of the elements in a `__cuda_array_interface__`; Numba's says of structs only how large they are."""
    dtype: np.dtype[Any] = np.dtype(interface["typestr"])
    if dtype.kind != "V":
        return dtype
    own = getattr(array, "dtype", None)
    if getattr(own, "name", "") == _BFLOAT16.name:
        return np.dtype(own)
    if descr := interface.get("descr"):
        dtype = np.dtype(descr)
    elif getattr(own, "names", None):
        dtype = np.dtype(own)
    return dtype


def _dlpack_view(value: object, slot: Slot) -> ArrayView:
    from enzyme_driver.runtime.backends.driver import strided_view

    try:
        view = strided_view(value)
    except (BufferError, RuntimeError, TypeError, ValueError, NotImplementedError) as error:
        raise _not_exported(value, slot, error) from None
    name, layout = _seen(view.dtype)
    shape = tuple(view.shape)
    return ArrayView(
        address=view.ptr,
        shape=shape,
        dtype=name,
        layout=layout,
        contiguous=view.strides is None or _is_contiguous(shape, view.strides, 1),
        readonly=view.readonly or is_jax(value),
        owner=view,
        device=view.device_id,
    )


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], unit: int) -> bool:
    expected = unit
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != expected:
            return prod(shape) == 0
        expected *= extent
    return True


def check_view(view: ArrayView, slot: Slot, given: object) -> None:
    """Raise ArgumentError unless the kernel can use the array in place, which was `given` as one of some library."""
    if view.layout != slot.layout and not _fits(slot.parameter.dtype, view) and not _is_raw(slot, view):
        raise slot.wrong(f"{view.dtype}, shape {view.shape}", _dtype_hint(slot, given))
    if not view.contiguous:
        raise slot.wrong("an array with other strides", _contiguous_hint(given))
    if slot.writable and view.readonly:
        raise slot.wrong(f"a read-only {_described(view.owner)}", _readonly_hint(view.owner))
    if view.nbytes and view.address % slot.alignment:
        raise slot.wrong("an array that is not aligned in memory", "make an aligned copy: x.copy()")
    if slot.one and view.nbytes != slot.parameter.dtype.size:
        raise slot.wrong(f"an array of shape {view.shape}", "give an array that holds one value")


def _fits(dtype: DataType, view: ArrayView) -> bool:
    if dtype.kind == "opaque" or same_layout(declared_layout(dtype), view.layout):
        return True
    leaf = common_leaf(dtype) if dtype.kind == "struct" else None
    single = leaf is not None and same_layout((leaf.size, (leaf,)), view.layout)
    return single and view.nbytes % dtype.size == 0


def _is_raw(slot: Slot, view: ArrayView) -> bool:
    """Bytes for whole structs that have no derivative, such as the states of random numbers."""
    dtype, (size, leaves) = slot.parameter.dtype, view.layout
    is_bytes = size == 1 and leaves[0].kind == "u"
    return dtype.kind == "struct" and slot.parameter.activity == "const" and is_bytes and view.nbytes % dtype.size == 0


_POINTER_OF_CUPY: Callable[[Any], int] = attrgetter("data.ptr")


def address_now(value: Any) -> Callable[[], int] | None:  # noqa: ANN401
    """What asks an array where its memory is; None where that cannot change, as of a NumPy array that is held."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(value, torch.Tensor):
        ask: Callable[[], int] = value.data_ptr
        return ask
    if cupy is not None and isinstance(value, cupy.ndarray):
        return partial(_POINTER_OF_CUPY, value)
    for protocol in ("__array_interface__", "__cuda_array_interface__"):
        if hasattr(value, protocol) and not isinstance(value, np.ndarray):
            return lambda: int(getattr(value, protocol)["data"][0] or 0)
    return None


def is_array(value: object) -> bool:
    """Whether the value is an array of some library, not a number or nothing."""
    if isinstance(value, np.ndarray):
        return True
    protocols = ("__array_interface__", "__cuda_array_interface__", "__dlpack__")
    return not isinstance(value, np.generic) and any(hasattr(value, name) for name in protocols)


def is_on_gpu(value: object) -> bool:
    try:
        return hasattr(value, "__cuda_array_interface__") or _dlpack_device(value) in _DLPACK_GPU
    except (BufferError, RuntimeError, TypeError, ValueError):
        return True  # it is one, but does not export itself as it is


def is_jax(value: object) -> bool:
    """JAX arrays are immutable, whatever they say of themselves."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def _dlpack_device(value: object) -> int | None:
    try:
        return int(value.__dlpack_device__()[0])  # type: ignore[attr-defined]
    except AttributeError:
        return None
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


def _described(value: object) -> str:
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    name = kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"
    dtype = getattr(value, "dtype", None)
    return f"{name} of {dtype}" if dtype is not None else "None" if value is None else name


def _not_exported(value: object, slot: Slot, error: Exception) -> ArgumentError:
    hint = "give a plain dense array"
    if getattr(value, "requires_grad", False):
        hint = "give tensor.detach(), or make it an operator, through which autograd goes: @adgen.operator"
    return slot.wrong(f"{_described(value)} that does not give its memory away ({error})", hint)


def _array_hint(slot: Slot) -> str:
    if slot.parameter.dtype.kind == "struct":
        return _dtype_hint(slot, None)
    return f"make an array first: numpy.asarray(x, dtype={str(slot.parameter.dtype)!r})"


def _to_gpu_hint(value: object) -> str:
    if getattr(getattr(value, "dtype", None), "names", None):
        return "copy it to the GPU first: numba.cuda.to_device(x); CuPy and PyTorch have no arrays of structs"
    return "copy it to the GPU first: cupy.asarray(x), torch.from_numpy(x).cuda()"


def _none_hint(slot: Slot) -> str:
    name = slot.parameter.name
    if slot.parameter.reference:
        return "a reference is never null: give an array"
    return (
        "None is a null pointer where the code asks whether it is one, or where no derivative is taken: "
        f'compile with activity={{"{name}": "const"}}'
    )


def _dtype_hint(slot: Slot, given: object) -> str:
    dtype = slot.parameter.dtype
    if dtype.kind == "struct":
        raw = ", or one of uint8 with as many bytes" if slot.parameter.activity == "const" else ""
        places = "".join(f"{member.name} at {member.offset}, " for member in dtype.fields[:_MOST_MEMBERS])
        more = "..., " if len(dtype.fields) > _MOST_MEMBERS else ""
        return f"give a structured array of the layout of {dtype}: {places}{more}{dtype.size} bytes an element{raw}"
    library = type(given).__module__.partition(".")[0]
    of_numpy, of_torch = f"x.astype({dtype.name!r})", f"x.to(torch.{dtype.name})"
    if library == __name__.partition(".")[0]:  # what an operator plans with: any library's
        return f"convert it: {of_numpy}, of PyTorch {of_torch}"
    return f"convert it: {of_torch if library == 'torch' else of_numpy}"


def _contiguous_hint(given: object) -> str:
    library = type(given).__module__.partition(".")[0]
    own = {"torch": "x.contiguous()", "cupy": "cupy.ascontiguousarray(x)"}
    return f"make a C-contiguous copy: {own.get(library, 'numpy.ascontiguousarray(x)')}"


def _readonly_hint(owner: object) -> str:
    if is_jax(owner):
        return "JAX arrays are immutable: give a CuPy or PyTorch array here, or use vjp, which makes new arrays"
    return "give a writable copy: x.copy()"
