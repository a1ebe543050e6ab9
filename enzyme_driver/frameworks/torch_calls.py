"""What the ops of PyTorch compute: the primal and its derivatives, on plain tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ArgumentError, UsageError
from enzyme_driver.frameworks.description import keyed
from enzyme_driver.frameworks.torch_functions import mapped_product, propagated
from enzyme_driver.frameworks.torch_native import bits, is_there, known_as, learn, run_known
from enzyme_driver.frameworks.torch_run import device_of, place_of, plain, run, spec_of, specs_of, torch_dtype

if TYPE_CHECKING:
    from enzyme_driver.frameworks.code import Place
    from enzyme_driver.frameworks.description import Operator
    from enzyme_driver.frameworks.native import Compiled
    from enzyme_driver.frameworks.plan import Spec
    from enzyme_driver.frameworks.verified import Unverified

_MOST = 4096  # programs that are remembered

Tensors = Sequence[Any]
Batch = tuple[int, Sequence[bool]]


class Calls:
    """The calls of one operator. Batched ones are given examples one behind the other, along the first axis."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._deterministic: dict[Any, bool] = {}
        self._known: dict[Any, Compiled] = {}
        self._numbers: dict[Any, int] = {}
        self._needed: dict[tuple[bool, ...], tuple[bool, ...]] = {}
        self._bits: dict[tuple[bool, ...], int] = {}

    @cached_property
    def _is_quick(self) -> bool:
        """Whether C++ does what it knows."""
        return not any(each.optional for each in self.operator.arrays) and is_there()

    def check_autocast(self, tensors: Tensors) -> None:
        """Autocast changes no operator's types: where it is on, inputs of mixed precision are refused."""
        if torch._C._is_any_autocast_enabled():  # noqa: SLF001  (one call for all devices)
            found = {tensor.dtype for tensor in tensors if tensor is not None and tensor.is_floating_point()}
            if len(found) > 1:
                names = ", ".join(sorted(str(each) for each in found))
                raise UsageError(
                    f"{self.operator.name}: autocast leads to inputs of {names}",
                    hint="write with torch.autocast(..., enabled=False): and give the types that the kernel takes",
                )

    def wrt(self, tensors: Tensors, needed: Sequence[bool]) -> tuple[bool, ...]:
        """The needed inputs that may have a derivative."""
        own = self.operator.differentiable
        return tuple(
            [
                bool(asked) and allowed and tensor is not None and (tensor.is_floating_point() or tensor.is_complex())
                for asked, allowed, tensor in zip(needed, own, tensors, strict=True)
            ]
        )

    def gradients(
        self, tensors: Tensors, statics: Sequence[Any], cotangents: Tensors, needed: tuple[bool, ...]
    ) -> list[torch.Tensor | None]:
        """By the inputs that need one, None for the others; nothing of it is recorded."""
        wrt = self._needed.get(needed)
        if wrt is None:  # an input that needs one is of floating point
            wrt = self._needed[needed] = self.wrt(tensors, needed)
        there = tuple([seed is not None for seed in cotangents])
        if True not in wrt or True not in there:
            return [None] * len(needed)
        found = iter(self.product(tensors, statics, cotangents, wrt, there))
        return [next(found) if asked else None for asked in wrt]

    def known(self, tensors: Tensors, statics: Sequence[Any]) -> list[torch.Tensor]:
        """The results of the primal, recorded for autograd; nothing where its program is not known yet."""
        return run_known(self._number(statics), tensors) if self._is_quick else []

    def primal(self, tensors: Tensors, statics: Sequence[Any], batch: Batch | None = None) -> list[torch.Tensor]:
        if batch is None and (found := self.known(tensors, statics)):
            return found
        device = device_of(self.operator, tensors)
        given = _plain(tensors)
        key = None if batch else (device, keyed(statics), *_kinds(given))
        compiled = self._known.get(key)
        if compiled is None:
            compiled = self.operator.primal(_specs(given, batch), statics, place_of(device))
            self._remember(key, compiled)
        if self._is_quick and batch is None:
            learn(compiled, bits(self.operator.differentiable))
        return run(compiled, _there(given), device, _flags(batch, given))

    def vjp(
        self,
        tensors: Tensors,
        statics: Sequence[Any],
        cotangents: Tensors,
        wrt: Sequence[bool],
        batch: Batch | None = None,
    ) -> list[torch.Tensor]:
        """One a wanted input; with `batch` every one has the axis of examples."""
        there = tuple([seed is not None for seed in cotangents])
        return self.product(tensors, statics, cotangents, tuple(wrt), there, batch)

    def product(
        self,
        tensors: Tensors,
        statics: Sequence[Any],
        cotangents: Tensors,
        wrt: tuple[bool, ...],
        there: tuple[bool, ...],
        batch: Batch | None = None,
    ) -> list[torch.Tensor]:
        if self._is_quick and batch is None and not torch.are_deterministic_algorithms_enabled():
            kept = cotangents if all(there) else [seed for seed in cotangents if seed is not None]
            if found := run_known(self._number(statics), [*tensors, *kept], self._mask(wrt), self._mask(there)):
                return found
        device = device_of(self.operator, tensors)
        given, seeds = _plain(tensors), _plain(cotangents)
        for seed in seeds:
            if seed is not None and seed.device != device:
                raise ArgumentError(
                    f"{self.operator.name}: a cotangent is on {seed.device}", hint=f"move it to {device}"
                )
        place = place_of(device)
        key = None if batch else (device, keyed(statics), wrt, there, *_kinds(given))
        compiled = self._known.get(key)
        if compiled is None:
            compiled = self.operator.reverse(_specs(given, batch), statics, place, wrt, there)
            self._remember(key, compiled)
        if self._is_quick and batch is None and not compiled.unverified:
            learn(compiled)
        if compiled.unverified and not (place.target == "cuda" and torch.cuda.is_current_stream_capturing()):
            _verify(compiled.unverified, given, batch, device)
        if place.target == "cuda" and torch.are_deterministic_algorithms_enabled():
            self._check_deterministic(compiled.text, place)
        return run(compiled, _there([*given, *seeds]), device, _flags(batch, [*given, *seeds]))

    def _number(self, statics: Any) -> int:
        """What stands for the operator with certain values, besides the tensors' shapes and dtypes."""
        key = keyed(statics)
        found = self._numbers.get(key)
        if found is None:
            own = partial(propagated, self, statics, None), partial(mapped_product, self, statics)
            found = self._numbers[key] = known_as(*own)
        return found

    def _mask(self, asked: tuple[bool, ...]) -> int:
        found = self._bits.get(asked)
        if found is None:
            found = self._bits[asked] = bits(asked)
        return found

    def _remember(self, key: Any, compiled: Compiled) -> None:
        """Programs by what is quickly compared; a batch has none."""
        if key is not None:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = compiled

    def jvp(
        self, tensors: Tensors, statics: Sequence[Any], tangents: Tensors, batch: Batch | None = None
    ) -> list[torch.Tensor]:
        """The outputs, then the tangents of those of floating point."""
        device = device_of(self.operator, tensors)
        given, along = _plain(tensors), _plain(tangents)
        there = tuple(each is not None for each in along)
        compiled = self.operator.forward(_specs(given, batch), statics, place_of(device), there)
        return run(compiled, _there([*given, *along]), device, _flags(batch, [*given, *along]))

    def second(
        self,
        tensors: Tensors,
        statics: Sequence[Any],
        cotangents: Tensors,
        directions: Tensors,
        batch: Batch | None = None,
    ) -> list[torch.Tensor]:
        """The derivatives of `vjp` weighted with directions, which are None for inputs without one.

        That by each input of floating point, then that by each cotangent.
        """
        device = device_of(self.operator, tensors)
        given, seeds, tangents = _plain(tensors), _plain(cotangents), _plain(directions)
        there = tuple(seed is not None for seed in seeds)
        along = tuple(each is not None for each in tangents)
        wrt = self.wrt(tensors, [True] * len(tensors))
        compiled = self.operator.second(_specs(given, batch), statics, place_of(device), wrt, there, along)
        everything = [*given, *seeds, *tangents]
        return run(compiled, _there(everything), device, _flags(batch, everything))

    def _check_deterministic(self, text: str, place: Place) -> None:
        """Raise UsageError where the gradient adds atomically, so that the order of sums differs from run to run."""
        if text not in self._deterministic:
            self._deterministic[text] = not any(_adds_atomically(name) for name in _ptx(self.operator, place))
        if not self._deterministic[text]:
            what = f"the gradient of {self.operator.name} adds atomically, in an order that differs from run to run"
            if torch.is_deterministic_algorithms_warn_only_enabled():
                import warnings

                warnings.warn(what, stacklevel=3)
                return
            raise UsageError(what, hint="run it on the host, or call torch.use_deterministic_algorithms(False)")


def _verify(unverified: Unverified, given: Sequence[torch.Tensor | None], batch: Batch | None, device: Any) -> None:
    """Of a batch, the first example."""
    flags = batch[1] if batch else [False] * len(given)
    if batch and batch[0] == 0:
        return
    pairs = [(each.detach(), flag) for each, flag in zip(given, flags, strict=False) if each is not None]
    with torch.no_grad():
        unverified.look([each[0] if flag else each for each, flag in pairs], _Tensors(device))


class _Tensors:
    """New tensors for verifying."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def zeros(self, spec: Spec) -> torch.Tensor:
        return torch.zeros(spec.shape, dtype=torch_dtype(spec.dtype), device=self._device)

    def copy(self, array: torch.Tensor) -> torch.Tensor:
        return array.clone()


def _kinds(tensors: Sequence[torch.Tensor | None]) -> list[Any]:
    return [None if tensor is None else (tensor.shape, tensor.dtype) for tensor in tensors]


def _ptx(operator: Operator, place: Place) -> list[str]:
    units = [unit for unit in operator.code.units() if unit.place == place]
    return [unit.artifact.ptx(arch).decode() for unit in units for arch in unit.artifact.archs]


def _adds_atomically(ptx: str) -> bool:
    return re.search(r"^\s*(@%p\d+\s+)?(atom|red)\.", ptx, re.MULTILINE) is not None


def _plain(tensors: Tensors) -> list[torch.Tensor | None]:
    return [None if tensor is None else plain(tensor) for tensor in tensors]


def _there(tensors: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
    return [tensor for tensor in tensors if tensor is not None]


def _specs(tensors: Sequence[torch.Tensor | None], batch: Batch | None) -> tuple[Any, ...]:
    """Those of one example."""
    if batch is None:
        return specs_of(tensors)
    flags = batch[1]
    return tuple(
        None if tensor is None else spec_of(tensor, first=int(flag))
        for tensor, flag in zip(tensors, flags, strict=False)
    )


def _flags(batch: Batch | None, tensors: Sequence[torch.Tensor | None]) -> Batch | None:
    if batch is None:
        return None
    return batch[0], [flag for tensor, flag in zip(tensors, batch[1], strict=True) if tensor is not None]
