"""An operator of JAX: custom calls of XLA, with derivatives by `custom_vjp` and batches by the calls themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from enzyme_driver.errors import ArgumentError, UsageError
from enzyme_driver.frameworks.code import HOST, Place
from enzyme_driver.frameworks.description import keyed
from enzyme_driver.frameworks.native import XLA_VERSION, Compiled, Headers, library_path
from enzyme_driver.frameworks.plain import verify
from enzyme_driver.frameworks.plan import Spec, dtype_name

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator

_TARGET = "adgen_run"
_WAITING = "adgen_run_waits"
Arrays = Sequence[Any]


@dataclass(frozen=True)
class _Static:
    """What is known while tracing and handed from a forward to a backward rule."""

    value: Any


jax.tree_util.register_static(_Static)


class JaxOperator:
    """Callable on arrays, also inside transformations. It runs on the platform of the default device."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._functions: dict[Any, Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<JAX operator adgen.{self.operator.name}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """An array, or a tuple where the operator has several results."""
        return self._apply(_reverse_function, args, named)

    def forward(self, *args: Any, **named: Any) -> Any:
        """The same for forward mode (`jax.jvp`, `jax.jacfwd`), where it was compiled; it has no gradient."""
        return self._apply(_forward_function, args, named)

    def _apply(self, make: Callable[..., Any], args: Arrays, named: dict[str, Any]) -> Any:
        arrays, statics = self.operator.bind(args, named)
        for each, value in zip(self.operator.arrays, arrays, strict=True):
            if value is None and not each.optional:
                raise ArgumentError(f"{self.operator.name}: argument {each.name!r} is None", hint="give an array")
        there = tuple(value is not None for value in arrays)
        key = (make, keyed(statics), there, _place(arrays))
        if key not in self._functions:
            self._functions[key] = make(_Calls(self.operator, statics, there, key[3]))
        pairs = zip(self.operator.arrays, arrays, strict=True)
        given = [_array(self.operator.name, each.name, value) for each, value in pairs if value is not None]
        with _says_who(self.operator.name):
            found = self._functions[key](*given)
        return found[0] if self.operator.results == 1 else tuple(found)


class _Calls:
    """The custom calls of an operator with certain static values; arrays are those that are there."""

    def __init__(self, operator: Operator, statics: Arrays, there: Sequence[bool], place: Place) -> None:
        self.operator = operator
        self.statics = tuple(statics)
        self.there = there
        self.place = place

    def specs(self, arrays: Arrays) -> tuple[Spec | None, ...]:
        own = iter(arrays)
        return tuple(_spec(self.operator.name, next(own)) if there else None for there in self.there)

    def mask(self, asked: Sequence[bool]) -> tuple[bool, ...]:
        """With an element for each array of the description."""
        own = iter(asked)
        return tuple(next(own) if there else False for there in self.there)

    def wrt(self, arrays: Arrays, asked: Sequence[bool]) -> tuple[bool, ...]:
        """Of the arrays that are there: those asked for that may have a derivative."""
        allowed = [able for able, there in zip(self.operator.differentiable, self.there, strict=True) if there]
        return tuple(
            each and able and _is_float(array) for each, able, array in zip(asked, allowed, arrays, strict=True)
        )

    def primal(self, arrays: Arrays) -> list[Any]:
        return _called(self.operator.primal(self.specs(arrays), self.statics, self.place), arrays)

    def vjp(self, arrays: Arrays, wrt: Sequence[bool], given: Sequence[bool], cotangents: Arrays) -> list[Any]:
        specs, mask = self.specs(arrays), self.mask(wrt)
        compiled = self.operator.reverse(specs, self.statics, self.place, mask, tuple(given))
        if compiled.unverified and all(map(_is_concrete, arrays)):
            verify(compiled.unverified, arrays)
        return _called(compiled, [*arrays, *cotangents])

    def jvp(self, arrays: Arrays, given: Sequence[bool], tangents: Arrays) -> list[Any]:
        compiled = self.operator.forward(self.specs(arrays), self.statics, self.place, self.mask(given))
        return _called(compiled, [*arrays, *tangents])

    def second(
        self, arrays: Arrays, given: Sequence[bool], cotangents: Arrays, along: Sequence[bool], tangents: Arrays
    ) -> list[Any]:
        specs, wrt = self.specs(arrays), self.mask(self.wrt(arrays, [True] * len(arrays)))
        compiled = self.operator.second(specs, self.statics, self.place, wrt, tuple(given), self.mask(along))
        return _called(compiled, [*arrays, *cotangents, *tangents])


def _reverse_function(calls: _Calls) -> Callable[..., Any]:
    """The operator with its vector-Jacobian product as JAX's derivative."""

    def primal(*arrays: Any) -> Any:
        return calls.primal(arrays)

    apply: Callable[..., Any] = jax.custom_vjp(primal)

    def forward(*given: Any) -> Any:
        arrays = [each.value for each in given]
        return apply(*arrays), (arrays, _Static(tuple(each.perturbed for each in given)))

    def backward(kept: Any, cotangents: Arrays) -> Any:
        arrays, perturbed = kept
        wrt = calls.wrt(arrays, perturbed.value)
        there = tuple(map(_is_cotangent, cotangents))
        if not any(wrt) or not any(there):
            return tuple(None for _ in arrays)
        seeds = [each for each, has in zip(cotangents, there, strict=True) if has]
        with _says_who(calls.operator.name):
            found = iter(_product_function(calls, wrt, there)(*arrays, *seeds))
        return tuple(_summed(next(found), array) if asked else None for array, asked in zip(arrays, wrt, strict=True))

    apply.defvjp(forward, backward, symbolic_zeros=True)  # type: ignore[attr-defined]
    return apply


def _product_function(calls: _Calls, wrt: Sequence[bool], there: Sequence[bool]) -> Callable[..., Any]:
    """The vector-Jacobian product, whose derivative is the second one."""
    count = len(wrt)

    def product(*given: Any) -> Any:
        return calls.vjp(given[:count], wrt, there, given[count:])

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def curvature(*given: Any) -> Any:
        seeds = count + sum(there)
        return calls.second(given[:count], there, given[count:seeds], wrt, given[seeds:])

    @curvature.defjvp  # type: ignore[untyped-decorator]
    def refuse(*_: Any) -> Any:
        raise UsageError(f"{calls.operator.name} cannot do third derivatives", hint="take at most two")

    apply: Callable[..., Any] = jax.custom_vjp(product)

    def forward(*given: Any) -> Any:
        return apply(*given), given

    def backward(given: Arrays, directions: Arrays) -> Any:
        arrays = given[:count]
        found = iter(curvature(*given, *directions))
        able = calls.wrt(arrays, [True] * count)
        curved = [next(found) if asked else None for asked in able]
        everything = [*curved, *found]
        return tuple(
            None if each is None else _summed(each, array) for each, array in zip(everything, given, strict=True)
        )

    apply.defvjp(forward, backward)  # type: ignore[attr-defined]
    return apply


def _forward_function(calls: _Calls) -> Callable[..., Any]:
    """The operator with its Jacobian-vector product as JAX's derivative."""

    def primal(*arrays: Any) -> Any:
        return calls.primal(arrays)

    apply: Callable[..., Any] = jax.custom_jvp(primal)

    def tangents(arrays: Arrays, given: Arrays) -> Any:
        able = calls.wrt(arrays, [not isinstance(each, jax.custom_derivatives.SymbolicZero) for each in given])
        along = [each for each, asked in zip(given, able, strict=True) if asked]
        values = apply(*arrays)  # by a call of its own, as they depend on no tangent: so jacfwd and linearize need it
        carried = iter(calls.jvp(arrays, able, along)[len(values) :])
        return values, [next(carried) if _is_float(each) else _no_tangent(each) for each in values]

    apply.defjvp(tangents, symbolic_zeros=True)  # type: ignore[attr-defined]
    return apply


@contextmanager
def _says_who(operator: str) -> Iterator[None]:
    """JAX refuses forward mode over a `custom_vjp` without a name."""
    try:
        yield
    except TypeError as error:
        if "custom_vjp" not in str(error):
            raise
        hint = f"call {operator}.jax.forward(...), with modes=['forward']; a Hessian is jacrev(jacrev(...))"
        raise UsageError(f"{operator}: {error}", hint=hint) from error


def _array(operator: str, name: str, value: Any) -> Any:
    try:
        return jax.numpy.asarray(value)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{operator}: argument {name!r} is no array: {problem}", hint="give an array") from problem


def _no_tangent(array: Any) -> Any:
    return np.zeros(array.shape, jax.dtypes.float0)


def _is_float(array: Any) -> bool:
    return bool(jax.numpy.issubdtype(array.dtype, jax.numpy.inexact))


def _is_cotangent(value: Any) -> bool:
    return not isinstance(value, jax.custom_derivatives.SymbolicZero) and value.dtype != jax.dtypes.float0


def _spec(name: str, array: Any) -> Spec:
    if any(not isinstance(extent, int) for extent in array.shape):
        raise UsageError(
            f"{name}: shape {array.shape} has a symbol in it; an operator is made for certain shapes",
            hint="export it for each shape",
        )
    return Spec(tuple(array.shape), dtype_name(array.dtype))


def _place(arrays: Arrays) -> Place:
    """Where a call of now runs: on the platform of a concrete array, else on that of the default device."""
    platform = next((_platform(each) for each in arrays if _is_concrete(each)), "")
    if not platform:
        device = jax.config.jax_default_device
        platform = getattr(device, "platform", device) or jax.default_backend()
    if platform == "cpu":
        return HOST
    if platform not in {"gpu", "cuda"}:
        raise UsageError(f"operators do not run on {platform}", hint="use the cpu or an NVIDIA GPU")
    return _gpu()


def _is_concrete(array: Any) -> bool:
    return isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer)


def _platform(array: Any) -> str:
    return str(next(iter(array.devices())).platform)


@cache
def _gpu() -> Place:
    """That of the GPUs of this process, which are taken to be of one kind."""
    device = jax.local_devices(backend="gpu")[0]
    major, minor = str(device.compute_capability).split(".")
    return Place("cuda", (int(major), int(minor)))


def _called(compiled: Compiled, operands: Arrays) -> list[Any]:
    """The custom call; examples of a batch come as leading axes."""
    _register()
    varying = _varying(operands)
    given = [_as_varying(each, varying) for each in operands]
    name = _WAITING if compiled.waits else _TARGET
    shapes = [jax.ShapeDtypeStruct(spec.shape, jax.numpy.dtype(spec.dtype)) for spec in compiled.results]
    ranks = [*(each.ndim for each in operands), *(len(spec.shape) for spec in compiled.results)]
    call = jax.ffi.ffi_call(name, shapes, vmap_method="expand_dims")
    words, numbers = np.array(compiled.words, np.int64), np.array(ranks or [0], np.int64)
    found = call(*given, name=np.int64(compiled.name), words=words, text=compiled.text, ranks=numbers)
    return [_as_varying(each, varying) for each in found]


def _varying(arrays: Arrays) -> frozenset[Any]:
    """The axes of a mesh along which any of the arrays differs, inside `shard_map`."""
    return frozenset().union(*map(_axes, arrays))


def _axes(array: Any) -> frozenset[Any]:
    """Those of one array, which releases of JAX say in different ways."""
    kind = jax.typeof(array)
    axes = getattr(kind, "mat", None)
    return frozenset(getattr(kind, "vma", ()) if axes is None else axes.varying)


def _as_varying(array: Any, axes: frozenset[Any]) -> Any:
    missing = tuple(axes - _axes(array))
    return jax.lax.pcast(array, missing, to="varying") if missing else array


def _summed(cotangent: Any, array: Any) -> Any:
    """That of an array which all devices share is the sum of theirs."""
    extra = tuple(_axes(cotangent) - _axes(array))
    return jax.lax.psum(cotangent, extra) if extra else cotangent


@cache
def _register() -> None:
    library = ctypes.CDLL(str(library_path("xla", Headers(Path(jax.ffi.include_dir()), XLA_VERSION))))
    register = partial(_register_one, library)
    register(_TARGET, "adgen_xla_host", "cpu")
    register(_TARGET, "adgen_xla_gpu", "CUDA")
    register(_WAITING, "adgen_xla_gpu_waits", "CUDA")


def _register_one(library: ctypes.CDLL, target: str, symbol: str, platform: str) -> None:
    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(library[symbol]), platform=platform)
