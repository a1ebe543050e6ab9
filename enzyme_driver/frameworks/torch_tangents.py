"""Forward mode of ops. Kernels of `torch.library.register_autograd` take inputs with tangents for constants, without a
word, so that tangents would be zero where a `jvp` is compiled or traced: here they are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from enzyme_driver.frameworks.torch_calls import Calls
from enzyme_driver.frameworks.torch_functions import no_transform

Carried = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Of the arguments of an op, of which some have tangents, the results with theirs."""


class Watched:
    """A library, as `register_autograd` takes it, whose kernels leave inputs with tangents to `carried`."""

    def __init__(self, library: Any, carried: Carried) -> None:
        self._library = library
        self._carried = carried

    def impl(self, name: str, kernel: Callable[..., Any], key: str, **options: Any) -> None:
        def watched(keyset: Any, *args: Any, **named: Any) -> Any:
            if any(unpacked(tensor)[1] is not None for tensor in _tensors((*args, *named.values()))):
                return self._carried(args, named)
            return kernel(keyset, *args, **named)

        self._library.impl(name, watched, key, **options)


def unpacked(tensor: Any) -> tuple[Any, Any]:
    """A tensor without its tangent, and the tangent."""
    if not isinstance(tensor, torch.Tensor):
        return tensor, None
    primal, tangent = torch._VF._unpack_dual(tensor, level=0)  # noqa: SLF001  (a compiled jvp tells Python no level)
    return primal, tangent


def with_tangent(tensor: torch.Tensor, tangent: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = torch._VF._make_dual(tensor, tangent, level=0)  # noqa: SLF001
    return made


def refusing(calls: Calls, what: str) -> Carried:
    def refuse(*_: Any) -> Any:
        raise no_transform(calls, what, "take it outside of torch.compile, of the operator itself")

    return refuse


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
