"""An operator of PyTorch: ops of `torch.library`, and autograd functions for eager calls and `torch.func`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import UsageError
from enzyme_driver.frameworks import torch_functions as functions
from enzyme_driver.frameworks.code import HOST
from enzyme_driver.frameworks.torch_calls import Calls
from enzyme_driver.frameworks.torch_run import device_of, specs_of, torch_dtype
from enzyme_driver.frameworks.torch_split import are_shared
from enzyme_driver.frameworks.torch_split import run as run_parts
from enzyme_driver.frameworks.torch_tangents import Watched, refusing, unpacked, with_tangent

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Input, Operator

NAMESPACE = "adgen"
_SCHEMA = {"float": "float", "int": "SymInt", "bool": "bool", "str": "str"}
_KEYS = ("CPU", "CUDA")
_BEHIND = 4  # arguments of the vector-Jacobian product behind the operator's own
_registered: dict[str, Operator] = {}


class TorchOperator:
    """Callable on tensors; `op` is `torch.ops.adgen.NAME.default`, which graphs hold."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.calls = Calls(operator)
        self._arrays = len(operator.arrays)
        self._single = operator.results == 1
        self.op = _register(operator, self.calls)

    def __repr__(self) -> str:
        return f"<torch.ops.{NAMESPACE}.{self.operator.name}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        """A tensor, or a tuple where the operator has several results."""
        if torch.compiler.is_compiling():
            return self.op(*args, **named)
        tensors, statics = self.operator.bind(args, named)
        if functions.is_eager() and (found := self.calls.known(tensors, statics)):
            return found[0] if self._single else tuple(found)
        if are_shared(tensors):
            found = run_parts(self.operator, tensors, statics, self._run)
        elif functions.are_plain(tensors):
            found = self._run(tensors, statics)
        else:
            return self.op(*args, **named)
        return found[0] if self._single else tuple(found)

    def _run(self, tensors: Sequence[Any], statics: tuple[Any, ...]) -> Any:
        """On plain tensors."""
        self.calls.check_autocast(tensors)
        if functions.transforms_are_active():
            return functions.Primal.apply(self.calls, statics, None, *tensors)
        if found := self.calls.known(tensors, statics):  # so it may be while autocast is on
            return found
        if functions.need_grad(tensors):
            return functions.Eager.apply(self.calls, statics, *tensors)
        return self.calls.primal(tensors, statics)

    def export(self, folder: str | Path, *examples: Any) -> Path:
        """A library that C++ and AOTInductor load without Python; it is left in the folder with what it launches.

        It has `adgen::NAME`, as here, and `adgen::NAME_gradient`, which takes the same arguments and then a cotangent
        an output, and gives the derivatives by all inputs that have one. An example is a tuple of arguments (a dict at
        its end has those by name): shapes, dtypes and values that no example has are an error when it is called.
        """
        from enzyme_driver.frameworks.aot import export

        schema = str(self.op._schema).removeprefix(f"{NAMESPACE}::")  # noqa: SLF001  (as it was defined)
        return export(self.operator, self.calls, schema, Path(folder), examples)


def _register(operator: Operator, calls: Calls) -> Any:
    """Define the five ops. Raises UsageError where another operator has the name."""
    name = operator.name
    if not operator.arrays:
        raise UsageError(f"the operator {name} takes no array", hint="PyTorch takes the device from one")
    if name in _registered:
        raise UsageError(f"there is an operator {name!r} already", hint="give this one another: name=")
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    single = operator.results == 1
    returns = "Tensor" if single else f"({', '.join(['Tensor'] * operator.results)})"
    try:
        library.define(f"{name}({_schema(operator.inputs)}) -> {returns}", tags=(torch.Tag.pt2_compliant_tag,))
    except RuntimeError as error:
        raise UsageError(f"the operator {name} cannot be registered: {error}", hint="give another name=") from None
    flat = ", ".join(_typed(each) for each in operator.inputs)
    library.define(
        f"{name}_vjp({flat}, Tensor?[] cotangents, bool[] wrt, SymInt examples=0, bool[] mapped=[]) -> Tensor[]",
        tags=(torch.Tag.pt2_compliant_tag,),
    )
    library.define(
        f"{name}_mapped({flat}, SymInt examples, bool[] mapped) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,)
    )
    library.define(
        f"{name}_second({flat}, Tensor?[] cotangents, Tensor?[] directions) -> Tensor[]",
        tags=(torch.Tag.pt2_compliant_tag,),
    )
    library.define(f"{name}_jvp({flat}, Tensor?[] tangents) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))
    order = [each.kind == "array" for each in operator.inputs]
    _forward_op(operator, calls, library, order)
    _vjp_op(operator, calls, library, order)
    _mapped_op(operator, calls, library, order)
    _registered[name] = operator
    operator.__dict__["_torch_library"] = library  # what is registered lasts as long as this object
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def _schema(inputs: Sequence[Input]) -> str:
    words, starred = [], False
    for each in inputs:
        if each.keyword and not starred:
            words.append("*")
            starred = True
        default = "" if each.default is each.NOTHING else f"={_literal(each.default)}"
        words.append(f"{_typed(each)}{default}")
    return ", ".join(words)


def _typed(each: Input) -> str:
    kind = _SCHEMA.get(each.kind) or ("Tensor?" if each.optional else "Tensor")
    return f"{kind} {each.name}"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _split(values: Sequence[Any], order: Sequence[bool]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    pairs = list(zip(values, order, strict=True))
    return tuple(value for value, array in pairs if array), tuple(value for value, array in pairs if not array)


def _forward_op(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> None:
    name = f"{NAMESPACE}::{operator.name}"
    returned = _returned(operator)

    def forward(*args: Any, **named: Any) -> Any:
        return returned(calls.primal(*operator.bind(args, named)))

    def fake(*args: Any, **named: Any) -> Any:
        tensors, statics = operator.bind(args, named)
        return returned(fake_outputs(operator, tensors, statics))

    def vmap(info: Any, in_dims: Any, *args: Any, **named: Any) -> Any:
        tensors, statics = operator.bind(args, named)
        dims, _ = _split(_padded(in_dims, len(order)), order)
        examples, mapped, moved = functions.joined(info.batch_size, dims, tensors, None, None)
        found = mapped_op(*_merged(moved, statics, order), examples, mapped)
        return returned(found), returned([0] * len(found))

    mapped_op = getattr(getattr(torch.ops, NAMESPACE), f"{operator.name}_mapped").default
    for key in _KEYS:
        library.impl(operator.name, forward, key)
    torch.library.register_fake(name, fake, lib=library)
    torch.library.register_vmap(name, vmap, lib=library)
    _forward_autograd(operator, calls, library, order)


def _returned(operator: Operator) -> Any:
    return (lambda found: found[0]) if operator.results == 1 else tuple


def _forward_autograd(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> None:
    name = f"{NAMESPACE}::{operator.name}"

    def save(ctx: Any, inputs: Any, named: dict[str, Any]) -> None:
        tensors, ctx.statics = operator.bind(inputs, named)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        del output
        save(ctx, inputs, {})

    def setup_with_keywords(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        del output
        save(ctx, inputs, keyword_only_inputs)

    def backward(ctx: Any, *cotangents: Any) -> Any:
        tensors = ctx.saved_tensors
        wrt = calls.wrt(tensors, _aligned(ctx.needs_input_grad, order))
        if not any(wrt) or all(each is None for each in cotangents):
            return tuple(None for _ in ctx.needs_input_grad)
        flat = _merged(tensors, ctx.statics, order)
        found = iter(vjp_op(*flat, [*cotangents], [*wrt]))
        gradients = [next(found) if asked else None for asked in wrt]
        return tuple(_merged(gradients, [None] * len(ctx.statics), order)[: len(ctx.needs_input_grad)])

    def carried(args: Any, named: dict[str, Any]) -> Any:
        tensors, statics = operator.bind(args, named)
        primals, tangents = zip(*map(unpacked, tensors), strict=True)
        able = calls.wrt(primals, [each is not None for each in tangents])
        moved = [each if asked else None for each, asked in zip(tangents, able, strict=True)]
        along = iter(jvp_op(*_merged(primals, statics, order), moved))
        values = op(*[unpacked(each)[0] for each in args], **named)  # once more: these have a gradient, too
        several = [values] if operator.results == 1 else values
        return _returned(operator)([with_tangent(each, next(along)) if _is_float(each) else each for each in several])

    keywords = any(each.keyword for each in operator.inputs)
    setup = setup_with_keywords if keywords else setup_context
    torch.library.register_autograd(name, backward, setup_context=setup, lib=Watched(library, carried))
    space = getattr(torch.ops, NAMESPACE)
    op, vjp_op = getattr(space, operator.name).default, getattr(space, f"{operator.name}_vjp").default
    jvp_op = _jvp_op(operator, calls, library, order)


def _padded(dims: Any, count: int) -> list[Any]:
    return [*dims, *[None] * (count - len(dims))]


def _aligned(needed: Sequence[bool], order: Sequence[bool]) -> list[bool]:
    return [asked for asked, array in zip(_padded(needed, len(order)), order, strict=True) if array]


def _merged(tensors: Sequence[Any], statics: Sequence[Any], order: Sequence[bool]) -> list[Any]:
    arrays, others = iter(tensors), iter(statics)
    return [next(arrays) if array else next(others) for array in order]


def _vjp_op(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> None:
    name = f"{NAMESPACE}::{operator.name}_vjp"

    def forward(*args: Any) -> list[torch.Tensor]:
        tensors, statics, (cotangents, wrt, examples, mapped) = _parts(args, order, (0, ()))
        there = [each is not None for each in cotangents]
        return calls.vjp(tensors, statics, cotangents, wrt, (examples, [*mapped, *there]) if examples else None)

    def fake(*args: Any) -> list[torch.Tensor]:
        tensors, _, (_, wrt, examples, mapped) = _parts(args, order, (0, ()))
        shapes = [tensor.shape if tensor is not None else () for tensor in tensors]
        if examples:
            shapes = [shape if each else (examples, *shape) for shape, each in zip(shapes, mapped, strict=True)]
        return [
            torch.empty(shape, dtype=tensor.dtype, device=tensor.device)
            for tensor, shape, asked in zip(tensors, shapes, wrt, strict=True)
            if asked
        ]

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        del output
        tensors, ctx.statics, (cotangents, wrt, ctx.examples, _) = _parts(inputs, order, (0, ()))
        ctx.wrt = tuple(wrt)
        ctx.given = tuple(each is not None for each in cotangents)
        ctx.save_for_backward(*tensors, *[each for each in cotangents if each is not None])
        ctx.set_materialize_grads(False)

    def backward(ctx: Any, directions: Any) -> Any:
        saved = ctx.saved_tensors
        count = len(operator.arrays)
        tensors, seeds = saved[:count], iter(saved[count:])
        cotangents = [next(seeds) if there else None for there in ctx.given]
        behind = (None,) * (len(ctx.needs_input_grad) - len(order) - 1)
        nothing = (*(None for _ in order), [None] * len(cotangents), *behind)
        if directions is None or all(each is None for each in directions):
            return nothing
        if ctx.examples:
            raise functions.no_transform(
                calls, "the second derivative of a compiled vmap", "take it outside of compile"
            )
        names = iter(directions)
        along = [next(names) if asked else None for asked in ctx.wrt]
        found = iter(second_op(*_merged(tensors, ctx.statics, order), cotangents, along))
        able = calls.wrt(tensors, [True] * count)
        curved = [next(found) if asked else None for asked in able]
        moved = [next(found) if there else None for there in ctx.given]
        return (*_merged(curved, [None] * len(ctx.statics), order), moved, *behind)

    for key in _KEYS:
        library.impl(f"{operator.name}_vjp", forward, key)
    torch.library.register_fake(name, fake, lib=library)
    watched = Watched(library, refusing(calls, "forward mode over reverse mode of its op"))
    torch.library.register_autograd(name, backward, setup_context=setup_context, lib=watched)
    second_op = _second_op(operator, calls, library, order)


def _parts(args: Sequence[Any], order: Sequence[bool], defaults: tuple[Any, ...] = ()) -> tuple[Any, Any, Any]:
    """Tensors, values, and what an op has behind these, of which the last ones may be left out."""
    tensors, statics = _split(args[: len(order)], order)
    rest = args[len(order) :]
    left = _BEHIND - len(rest) if defaults else 0
    return tensors, statics, (*rest, *defaults[len(defaults) - left :])


def _mapped_op(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> None:
    """The op of many examples, which graphs hold where the operator is mapped."""
    name = f"{NAMESPACE}::{operator.name}_mapped"
    space = getattr(torch.ops, NAMESPACE)
    vjp_op = getattr(space, f"{operator.name}_vjp").default
    mapped_op = getattr(space, f"{operator.name}_mapped").default

    def forward(*args: Any) -> list[torch.Tensor]:
        tensors, statics, (examples, mapped) = _parts(args, order)
        return calls.primal(tensors, statics, (examples, mapped))

    def fake(*args: Any) -> list[torch.Tensor]:
        tensors, statics, (examples, mapped) = _parts(args, order)
        pairs = zip(tensors, mapped, strict=True)
        own = [each.new_empty(each.shape[1:]) if flag else each for each, flag in pairs]
        return [each.new_empty((examples, *each.shape)) for each in fake_outputs(operator, own, statics)]

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        tensors, ctx.statics, (ctx.examples, ctx.mapped) = _parts(inputs, order)
        ctx.mark_non_differentiable(*[each for each in output if not _is_float(each)])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)

    def backward(ctx: Any, cotangents: Any) -> Any:
        tensors = ctx.saved_tensors
        wrt = calls.wrt(tensors, _aligned(ctx.needs_input_grad[: len(order)], order))
        if not any(wrt) or all(each is None for each in cotangents):
            return tuple(None for _ in ctx.needs_input_grad)
        found = iter(vjp_op(*_merged(tensors, ctx.statics, order), cotangents, [*wrt], ctx.examples, ctx.mapped))
        made = [next(found) if asked else None for asked in wrt]
        sums = [each if each is None or flag else each.sum(0) for each, flag in zip(made, ctx.mapped, strict=True)]
        return (*_merged(sums, [None] * len(ctx.statics), order), None, None)

    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        tensors, statics, (before, had) = _parts(args, order)
        dims, _ = _split(in_dims[: len(order)], order)
        examples, mapped, moved = functions.joined(info.batch_size, dims, tensors, before, had)
        found = mapped_op(*_merged(moved, statics, order), examples, mapped)
        return [each.reshape(info.batch_size, before, *each.shape[1:]) for each in found], [0] * len(found)

    for key in _KEYS:
        library.impl(f"{operator.name}_mapped", forward, key)
    torch.library.register_fake(name, fake, lib=library)
    watched = Watched(library, refusing(calls, "forward mode over a map of its op"))
    torch.library.register_autograd(name, backward, setup_context=setup_context, lib=watched)
    torch.library.register_vmap(name, vmap, lib=library)


def _second_op(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> Any:
    name = f"{NAMESPACE}::{operator.name}_second"

    def forward(*args: Any) -> list[torch.Tensor]:
        (*inputs, cotangents, directions) = args
        tensors, statics = _split(inputs, order)
        return calls.second(tensors, statics, cotangents, directions)

    def fake(*args: Any) -> list[torch.Tensor]:
        (*inputs, cotangents, _) = args
        tensors, _ = _split(inputs, order)
        able = calls.wrt(tensors, [True] * len(tensors))
        like = [tensor for tensor, asked in zip(tensors, able, strict=True) if asked]
        like += [each for each in cotangents if each is not None]
        return [torch.empty_like(each, memory_format=torch.contiguous_format) for each in like]

    for key in _KEYS:
        library.impl(f"{operator.name}_second", forward, key)
    torch.library.register_fake(name, fake, lib=library)
    _without_derivative(calls, library, name, "third derivatives")
    return getattr(getattr(torch.ops, NAMESPACE), f"{operator.name}_second").default


def _jvp_op(operator: Operator, calls: Calls, library: Any, order: Sequence[bool]) -> Any:
    """The tangents of the outputs of floating point."""
    name = f"{NAMESPACE}::{operator.name}_jvp"

    def forward(*args: Any) -> list[torch.Tensor]:
        tensors, statics, (tangents,) = _parts(args, order)
        return calls.jvp(tensors, statics, tangents)[operator.results :]

    def fake(*args: Any) -> list[torch.Tensor]:
        tensors, statics, _ = _parts(args, order)
        return [each for each in fake_outputs(operator, tensors, statics) if _is_float(each)]

    for key in _KEYS:
        library.impl(f"{operator.name}_jvp", forward, key)
    torch.library.register_fake(name, fake, lib=library)
    _without_derivative(calls, library, name, "reverse mode over forward mode")
    return getattr(getattr(torch.ops, NAMESPACE), f"{operator.name}_jvp").default


def _without_derivative(calls: Calls, library: Any, name: str, what: str) -> None:
    refuse = refusing(calls, what)
    torch.library.register_autograd(name, refuse, lib=Watched(library, refuse))


def _is_float(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def fake_outputs(operator: Operator, tensors: Sequence[Any], statics: Sequence[Any]) -> list[torch.Tensor]:
    """What the operator returns, as tensors without content: the description is asked for the shapes."""
    device = device_of(operator, tensors)
    plan = operator.plan(specs_of(tensors), statics, HOST)
    return [torch.empty(spec.shape, dtype=torch_dtype(spec.dtype), device=device) for spec in plan.results]
