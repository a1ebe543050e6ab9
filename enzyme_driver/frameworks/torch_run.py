"""Programs on tensors: what they need to know of a device, and how they are run on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ArgumentError, UsageError
from enzyme_driver.frameworks.code import HOST, Place
from enzyme_driver.frameworks.plan import Spec, dtype_name
from enzyme_driver.runtime.call.accumulation import WAYS, wanted_accumulation

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator
    from enzyme_driver.frameworks.native import Compiled

Tensors = Sequence[torch.Tensor]
_NAMES: dict[torch.dtype, str] = {}
TENSORS = frozenset({torch.Tensor, torch.nn.Parameter})
"""Classes that add nothing to what an op sees."""


def torch_dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    if not isinstance(found, torch.dtype):
        raise TypeError(name)
    return found


def spec_of(tensor: torch.Tensor, first: int = 0) -> Spec:
    """That of the tensor, or of an example where the first axis counts these."""
    dtype = tensor.dtype
    name = _NAMES.get(dtype)
    if name is None:
        name = _NAMES[dtype] = dtype_name(dtype)
    return Spec(tuple(tensor.shape[first:]), name)


def specs_of(tensors: Sequence[torch.Tensor | None]) -> tuple[Spec | None, ...]:
    return tuple([None if tensor is None else spec_of(tensor) for tensor in tensors])


@cache
def place_of(device: torch.device) -> Place:
    """Raises UsageError for devices that are neither the host nor an NVIDIA GPU."""
    if device.type == "cpu":
        return HOST
    if device.type != "cuda":
        raise UsageError(f"operators do not run on {device.type}", hint="move the tensors to cpu or cuda")
    major, minor = torch.cuda.get_device_capability(device)
    return Place("cuda", (major, minor))


def device_of(operator: Operator, tensors: Sequence[torch.Tensor | None]) -> torch.device:
    """The one device of all tensors. Raises ArgumentError, which names the argument."""
    found: torch.device | None = None
    for each, tensor in zip(operator.arrays, tensors, strict=True):
        if tensor is None:
            if not each.optional:
                raise ArgumentError(f"{operator.name}: argument {each.name!r} is None", hint="give a tensor")
            continue
        _check_strided(operator.name, each.name, tensor)
        if found is None:
            found = tensor.device
        elif tensor.device != found:
            raise ArgumentError(
                f"{operator.name}: argument {each.name!r} is on {tensor.device}, the others are on {found}",
                hint=f"move it: {each.name}.to({str(found)!r})",
            )
    return torch.device("cpu") if found is None else found


def _check_strided(operator: str, name: str, tensor: torch.Tensor) -> None:
    if tensor.is_nested or tensor.layout is not torch.strided or tensor.is_quantized:
        kind = "nested" if tensor.is_nested else "quantized" if tensor.is_quantized else str(tensor.layout)
        raise ArgumentError(
            f"{operator}: argument {name!r} is a {kind} tensor, which a kernel cannot read",
            hint="give a dense one, as tensor.to_dense() makes it",
        )


def run(
    compiled: Compiled, operands: Tensors, device: torch.device, batch: tuple[int, Sequence[bool]] | None = None
) -> list[torch.Tensor]:
    """New tensors with the results; the operands are contiguous and on the device.

    With `batch` (how many examples, and for each operand whether it holds one an example) all results hold them.
    """
    _check_operands(compiled, operands, batch)
    if compiled.kept is None:
        compiled.kept = [(spec.shape, torch_dtype(spec.dtype)) for spec in compiled.results]
    count, batched = 1, None
    if batch is None:
        made = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in compiled.kept]
    else:
        made = [torch.empty((batch[0], *shape), dtype=dtype, device=device) for shape, dtype in compiled.kept]
        count, batched = batch[0], bytes([*batch[1], *[1] * len(made)])
    addresses = [tensor.data_ptr() for tensor in (*operands, *made)]
    if device.type == "cpu":
        compiled.run(addresses, way=accumulation(), batch=count, batched=batched)
        return made
    index = device.index if device.index is not None else torch.cuda.current_device()
    stream = torch._C._cuda_getCurrentRawStream(index)  # noqa: SLF001  (what Triton takes)
    kept: list[torch.Tensor] = []
    allocate = _allocate(device, kept) if compiled.waits else None
    scratch = 0
    if compiled.scratch_bytes:
        kept.append(torch.empty(compiled.scratch_bytes, dtype=torch.uint8, device=device))
        scratch = kept[0].data_ptr()
    compiled.run(
        addresses, device=index, stream=stream, allocate=allocate, batch=count, batched=batched, scratch=scratch
    )
    return made


def _check_operands(compiled: Compiled, operands: Tensors, batch: tuple[int, Sequence[bool]] | None) -> None:
    """Cotangents and tangents, too, which who calls an op by itself may give in any shape."""
    flags = batch[1] if batch else [False] * len(operands)
    for tensor, spec, flag in zip(operands, compiled.operands, flags, strict=True):
        wanted = (batch[0], *spec.shape) if batch and flag else spec.shape
        if tuple(tensor.shape) != wanted or spec_of(tensor).dtype != spec.dtype:
            found = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
            raise ArgumentError(
                f"the operator {compiled.operator}: a tensor of {found} for one of {spec.dtype}{list(wanted)}",
                hint="a cotangent is as its output, a tangent as its input",
            )


def _allocate(device: torch.device, kept: list[torch.Tensor]) -> Callable[[object, int], int]:
    def allocate(_: object, size: int) -> int:
        kept.append(torch.empty(size, dtype=torch.uint8, device=device))
        return int(kept[-1].data_ptr())

    return allocate


def accumulation() -> int:
    """How threads of the host add up."""
    wanted = wanted_accumulation()
    if wanted == "auto" and torch.are_deterministic_algorithms_enabled():
        return WAYS["deterministic"]
    return WAYS[wanted]


def plain(tensor: Any) -> torch.Tensor:
    """The tensor in the order of C, with its conjugation and sign done."""
    if torch._C._functorch.is_legacy_batchedtensor(tensor):  # noqa: SLF001
        raise UsageError(
            "operators cannot be mapped by is_grads_batched or vectorize=True of torch.autograd",
            hint="use torch.func.vmap, jacrev or jacfwd",
        )
    found: torch.Tensor = tensor
    if tensor.is_conj() or tensor.is_neg():
        found = tensor.resolve_conj().resolve_neg()
    return found if found.is_contiguous() else found.contiguous()
