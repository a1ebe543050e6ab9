"""Autograd functions around the same calls: for eager mode, where they are quicker than ops, and for `torch.func`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import forward_ad

from enzyme_driver.frameworks.torch_run import TENSORS

if TYPE_CHECKING:
    from enzyme_driver.frameworks.torch_calls import Batch, Calls

Tensors = Sequence[Any]
_KINDS = {*TENSORS, type(None)}
_modes = torch._C._len_torch_dispatch_stack  # noqa: SLF001
_transform = torch._C._functorch.peek_interpreter_stack  # noqa: SLF001


def is_eager() -> bool:
    """Whether no mode sees the call, nothing transforms it, and autocast is off."""
    return not (_modes() or torch._C._is_any_autocast_enabled() or transforms_are_active())  # noqa: SLF001


def are_plain(tensors: Tensors) -> bool:
    """Whether nobody is to see the call who only knows ops: no subclass of tensors, no mode that traces."""
    if _modes():
        return False
    for tensor in tensors:  # noqa: SIM110  (a generator costs more than what it does here)
        if type(tensor) not in _KINDS or (tensor is not None and tensor.is_meta):
            return False
    return True


def transforms_are_active() -> bool:
    """Whether a transformation of `torch.func` or forward-mode AD is under way."""
    return _transform() is not None or forward_ad._current_level >= 0  # noqa: SLF001


def need_grad(tensors: Tensors) -> bool:
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return False


class Eager(torch.autograd.Function):  # type: ignore[misc]
    """`Primal` where no transformation is under way, and C++ does not do it: PyTorch is quick to call this form."""

    @staticmethod
    def forward(ctx: Any, calls: Calls, statics: tuple[Any, ...], *tensors: Any) -> Any:
        made = calls.primal(tensors, statics)
        ctx.calls, ctx.statics = calls, statics
        ctx.set_materialize_grads(False)
        indices = [each for each in made if not (each.is_floating_point() or each.is_complex())]
        if indices:
            ctx.mark_non_differentiable(*indices)
        ctx.save_for_backward(*tensors)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        found = propagated(ctx.calls, ctx.statics, None, ctx.saved_tensors, cotangents, ctx.needs_input_grad[2:])
        return (None, None, *found)


class Primal(torch.autograd.Function):  # type: ignore[misc]
    """`batch` is None, or the number of examples and which tensors hold one an example."""

    @staticmethod
    def forward(calls: Calls, statics: tuple[Any, ...], batch: Batch | None, *tensors: Any) -> Any:
        return tuple(calls.primal(tensors, statics, batch))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.calls, ctx.statics, ctx.batch, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[each for each in output if not (each.is_floating_point() or each.is_complex())])
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        calls, tensors, needed = ctx.calls, ctx.saved_tensors, ctx.needs_input_grad[3:]
        return (None, None, None, *propagated(calls, ctx.statics, ctx.batch, tensors, cotangents, needed))

    @staticmethod
    def jvp(ctx: Any, _calls: Any, _statics: Any, _batch: Any, *tangents: Any) -> Any:
        calls, tensors = ctx.calls, ctx.saved_tensors
        able = calls.wrt(tensors, [each is not None for each in tangents])
        along = [tangent if asked else None for tangent, asked in zip(tangents, able, strict=True)]
        own = ctx.batch[1] if ctx.batch else None
        given = (*tensors, *[each for each in along if each is not None])
        found = tuple(Tangents.apply(calls, ctx.statics, (ctx.batch, able, own), *given))
        results = calls.operator.results
        values, carried = found[:results], iter(found[results:])
        return tuple(next(carried) if each.is_floating_point() or each.is_complex() else None for each in values)

    @staticmethod
    def vmap(info: Any, in_dims: Any, calls: Calls, statics: Any, batch: Batch | None, *tensors: Any) -> Any:
        found, dims = _primal_of_examples(calls, statics, batch, info.batch_size, in_dims[3:], tensors)
        return tuple(found), tuple(dims)


def propagated(
    calls: Calls, statics: Any, batch: Batch | None, tensors: Tensors, cotangents: Tensors, needed: tuple[bool, ...]
) -> list[Any]:
    """The gradients of the inputs, None for those that need none."""
    active = transforms_are_active()
    if batch is None and not active and not torch.is_grad_enabled():
        return calls.gradients(tensors, statics, cotangents, needed)
    wrt = calls.wrt(tensors, needed)
    if not any(wrt) or all(each is None for each in cotangents):
        return [None] * len(tensors)
    recorded = need_grad(tensors) or need_grad(cotangents) or active
    if batch is None and not recorded:
        found = iter(calls.vjp(tensors, statics, cotangents, wrt))
        return [next(found) if asked else None for asked in wrt]
    there = tuple([each is not None for each in cotangents])
    given = (*tensors, *[each for each in cotangents if each is not None])
    how = (batch, wrt, there, _chosen(batch[1], wrt) if batch else ())
    found = iter(Product.apply(calls, statics, how, *given) if recorded else product(calls, statics, how, given))
    return [next(found) if asked else None for asked in wrt]


def _chosen(values: Sequence[Any], asked: Sequence[bool]) -> tuple[Any, ...]:
    return tuple(value for value, wanted in zip(values, asked, strict=True) if wanted)


def product(calls: Calls, statics: Any, how: Any, given: Tensors) -> list[torch.Tensor]:
    """The vector-Jacobian product. Of a batch every cotangent holds an example for itself, and so do the `own` results;
    others are the sum over all examples.
    """
    batch, wrt, there, own = how
    count = len(calls.operator.arrays)
    tensors, seeds = given[:count], iter(given[count:])
    cotangents = [next(seeds) if each else None for each in there]
    if batch is None:
        return calls.vjp(tensors, statics, cotangents, wrt)
    found = calls.vjp(tensors, statics, cotangents, wrt, (batch[0], [*batch[1], *there]))
    return _summed(found, own)


def _summed(found: Tensors, own: Sequence[bool]) -> list[torch.Tensor]:
    return [each if flag else each.sum(0) for each, flag in zip(found, own, strict=True)]


class Product(torch.autograd.Function):  # type: ignore[misc]
    """The vector-Jacobian product, whose own derivative is the second one."""

    @staticmethod
    def forward(calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        return tuple(product(calls, statics, how, given))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        del output
        ctx.calls, ctx.statics, ctx.how, *given = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given)
        ctx.save_for_forward(*given)

    @staticmethod
    def backward(ctx: Any, *directions: Any) -> Any:
        batch, wrt, there, own = ctx.how
        calls, given = ctx.calls, ctx.saved_tensors
        if all(each is None for each in directions):
            return (None, None, None, *(None for _ in given))
        names = iter(zip(directions, own or [False] * len(directions), strict=True))
        along = [next(names) if asked else (None, False) for asked in wrt]
        curved, moved = _curved(calls, ctx.statics, (batch, there), given, along)
        if batch:
            able = [each is not None for each in curved]
            sums = iter(_summed(_chosen(curved, able), _chosen(batch[1], able)))
            curved = [next(sums) if asked else None for asked in able]
        return (None, None, None, *curved, *moved)

    @staticmethod
    def jvp(ctx: Any, _calls: Any, _statics: Any, _how: Any, *tangents: Any) -> Any:
        """The Hessian is symmetric: what is propagated back along the tangents is what moves along with them."""
        batch, wrt, there, own = ctx.how
        calls, given = ctx.calls, ctx.saved_tensors
        able = calls.wrt(given[: len(wrt)], [each is not None for each in tangents[: len(wrt)]])
        pairs = zip(tangents, batch[1] if batch else [False] * len(wrt), able, strict=False)
        along = [(each, flag) if asked else (None, False) for each, flag, asked in pairs]
        parts = []
        if any(able):
            found = _chosen(_curved(calls, ctx.statics, (batch, there), given, along)[0], wrt)
            parts.append(_summed(found, own) if batch else found)
        seeds = tangents[len(wrt) :]
        if any(each is not None for each in seeds):
            full = [
                torch.zeros_like(seed) if each is None else each
                for each, seed in zip(seeds, given[len(wrt) :], strict=True)
            ]
            parts.append(Product.apply(calls, ctx.statics, ctx.how, *given[: len(wrt)], *full))
        return tuple(sum(each) for each in zip(*parts, strict=True))

    @staticmethod
    def vmap(info: Any, in_dims: Any, calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        found = _mapped(calls, statics, how, info.batch_size, in_dims[3:], given)
        return tuple(found), tuple(0 for _ in found)


def _curved(calls: Calls, statics: Any, how: Any, given: Tensors, along: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The second derivative, by inputs (None where there is none) and cotangents, which of a batch hold an example.

    Of each direction: whether it holds an example for itself, too.
    """
    batch, there = how
    mask = tuple(each is not None for each, _ in along)
    moves, flags = [each for each, _ in along if each is not None], tuple(flag for _, flag in along)
    found = iter(Second.apply(calls, statics, (batch, there, mask, flags), *given, *moves))
    able = calls.wrt(given[: len(along)], [True] * len(along))
    return [next(found) if asked else None for asked in able], list(found)


def mapped_product(
    calls: Calls,
    statics: Any,
    size: int,
    tensors: Tensors,
    cotangents: Tensors,
    wrt: tuple[bool, ...],
    dims: Sequence[Any],
) -> list[torch.Tensor]:
    """The vector-Jacobian products of so many examples, which lie along these axes of what has one each."""
    there = tuple([each is not None for each in cotangents])
    given = (*tensors, *[each for each in cotangents if each is not None])
    axes = [*dims[: len(tensors)], *[d for d, has in zip(dims[len(tensors) :], there, strict=True) if has]]
    return _mapped(calls, statics, (None, wrt, there, ()), size, axes, given, recorded=False)


def _mapped(
    calls: Calls, statics: Any, how: Any, size: int, dims: Sequence[Any], given: Tensors, *, recorded: bool = True
) -> list[torch.Tensor]:
    batch, wrt, there, own = how
    count = len(wrt)
    flags = [*batch[1], *[True] * (len(given) - count)] if batch else None
    examples, flags, moved = joined(size, dims, given, batch[0] if batch else None, flags)
    seeds = _of_each(examples, moved[count:], flags[count:])
    wanted = ((examples, tuple(flags[:count])), wrt, there, (True,) * sum(wrt))
    own_given = (*moved[:count], *seeds)
    found = list(
        Product.apply(calls, statics, wanted, *own_given) if recorded else product(calls, statics, wanted, own_given)
    )
    if batch:
        split = [each.reshape(size, batch[0], *each.shape[1:]) for each in found]
        found = [each if flag else each.sum(1) for each, flag in zip(split, own, strict=True)]
    return found


def _of_each(examples: int, tensors: Tensors, flags: Sequence[bool]) -> list[Any]:
    """All of them with an example for itself."""
    pairs = zip(tensors, flags, strict=True)
    return [each if flag else each.expand(examples, *each.shape) for each, flag in pairs]


def _split(calls: Calls, how: Any, given: Tensors) -> tuple[Tensors, list[Any], list[Any]]:
    """Tensors, cotangents and directions, with None for those that are not there."""
    there, mask = how
    count = len(calls.operator.arrays)
    rest = iter(given[count:])
    return given[:count], [next(rest) if e else None for e in there], [next(rest) if e else None for e in mask]


def _remember_calls(ctx: Any, inputs: Any, output: Any) -> None:
    del output
    ctx.calls = inputs[0]


def _refusing(what: str, hint: str) -> Callable[..., Any]:
    """Of a derivative that there is none of."""

    def refuse(ctx: Any, *_: Any) -> Any:
        raise no_transform(ctx.calls, what, hint)

    return refuse


class Second(torch.autograd.Function):  # type: ignore[misc]
    """What is propagated back through a vector-Jacobian product."""

    @staticmethod
    def forward(calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        batch, there, mask, flags = how
        tensors, seeds, along = _split(calls, (there, mask), given)
        marks = None if batch is None else (batch[0], [*batch[1], *there, *flags])
        return tuple(calls.second(tensors, statics, seeds, along, marks))

    setup_context = staticmethod(_remember_calls)
    backward = staticmethod(_refusing("third derivatives", "take at most two"))
    jvp = staticmethod(_refusing("third derivatives", "take at most two"))

    @staticmethod
    def vmap(info: Any, in_dims: Any, calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        batch, there, mask, along = how
        count, seeds = len(mask), sum(there)
        before = [*batch[1], *[True] * seeds, *_chosen(along, mask)] if batch else None
        examples, flags, moved = joined(info.batch_size, in_dims[3:], given, batch[0] if batch else None, before)
        own = iter(flags[count + seeds :])
        wanted = (examples, tuple(flags[:count])), there, mask, tuple(next(own) if each else False for each in mask)
        middle = _of_each(examples, moved[count : count + seeds], flags[count : count + seeds])
        found = Second.apply(calls, statics, wanted, *moved[:count], *middle, *moved[count + seeds :])
        if batch:
            found = [each.reshape(info.batch_size, batch[0], *each.shape[1:]) for each in found]
        return tuple(found), tuple(0 for _ in found)


class Tangents(torch.autograd.Function):  # type: ignore[misc]
    """The outputs and their tangents."""

    @staticmethod
    def forward(calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        batch, able, own = how
        count = len(able)
        along = iter(given[count:])
        tangents = [next(along) if each else None for each in able]
        flags = None if batch is None else (batch[0], [*batch[1], *own])
        return tuple(calls.jvp(given[:count], statics, tangents, flags))

    setup_context = staticmethod(_remember_calls)
    backward = staticmethod(_refusing("reverse mode over forward mode", "take the gradient of a gradient"))
    jvp = staticmethod(_refusing("forward mode over forward mode", "take the gradient of a gradient"))

    @staticmethod
    def vmap(info: Any, in_dims: Any, calls: Calls, statics: Any, how: Any, *given: Any) -> Any:
        batch, able, own = how
        before = [*batch[1], *_chosen(own, able)] if batch else None
        examples, flags, moved = joined(info.batch_size, in_dims[3:], given, batch[0] if batch else None, before)
        rest = iter(flags[len(able) :])
        wanted = (examples, tuple(flags[: len(able)])), able, tuple(next(rest) if each else False for each in able)
        found = Tangents.apply(calls, statics, wanted, *moved)
        if batch:
            found = [each.reshape(info.batch_size, batch[0], *each.shape[1:]) for each in found]
        return tuple(found), tuple(0 for _ in found)


def no_transform(calls: Calls, what: str, hint: str) -> Exception:
    from enzyme_driver.errors import UsageError

    return UsageError(f"{calls.operator.name} cannot do {what}", hint=hint)


def _primal_of_examples(
    calls: Calls,
    statics: Any,
    batch: Batch | None,
    size: int,
    dims: Sequence[Any],
    tensors: Tensors,
) -> Any:
    before, flags = (batch[0], batch[1]) if batch else (None, None)
    examples, flags, moved = joined(size, dims, tensors, before, flags)
    found = Primal.apply(calls, statics, (examples, tuple(flags)), *moved)
    if batch:
        found = [each.reshape(size, batch[0], *each.shape[1:]) for each in found]
    return list(found), [0 for _ in found]


def joined(
    size: int, dims: Sequence[Any], tensors: Tensors, before: int | None, flags: Sequence[bool] | None
) -> tuple[int, list[bool], list[Any]]:
    """All examples along one first axis: the new axis, and the one that some tensors may have already."""
    made: list[Any] = []
    mapped: list[bool] = []
    had = flags or [False] * len(tensors)
    for tensor, dim, inner in zip(tensors, dims, had, strict=True):
        if tensor is None or (dim is None and not inner):
            made.append(tensor)
            mapped.append(False)
            continue
        outer = tensor.movedim(dim, 0) if dim is not None else tensor.unsqueeze(0).expand(size, *tensor.shape)
        if before is not None:
            rest = outer.shape[2:] if inner else outer.shape[1:]
            full = outer if inner else outer.unsqueeze(1)
            outer = full.expand(size, before, *rest).reshape(size * before, *rest)
        made.append(outer)
        mapped.append(True)
    return size * (before or 1), mapped, made
