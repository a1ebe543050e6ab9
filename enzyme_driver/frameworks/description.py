"""`@adgen.operator`: one Python function that says how a kernel is launched, for NumPy, CuPy, PyTorch and JAX."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from enzyme_driver.errors import AdgenError, ArgumentError, UsageError
from enzyme_driver.frameworks import derive
from enzyme_driver.frameworks.code import HOST, Code, Options, Place, Unit
from enzyme_driver.frameworks.native import Compiled
from enzyme_driver.frameworks.plan import Plan, Spec
from enzyme_driver.frameworks.recorder import Launch
from enzyme_driver.frameworks.split import Split
from enzyme_driver.frameworks.split import check as check_split
from enzyme_driver.frameworks.verified import Unverified

if TYPE_CHECKING:
    from enzyme_driver.frameworks.jax_operator import JaxOperator
    from enzyme_driver.frameworks.torch_operator import TorchOperator

Kind = Literal["array", "float", "int", "bool", "str"]
_STATIC: Mapping[str, type] = {"float": float, "int": int, "bool": bool, "str": str}
_NOTHING = inspect.Parameter.empty
_MOST = 4096  # shapes that are remembered
_MISTAKES = (AttributeError, TypeError)
_SEEN = (
    "a description sees the shape, dtype, ndim and size of an array and nothing else; it makes others by "
    "launch.empty_like(x) and launch.empty(shape, dtype), and returns launch(grid=, block=, args=, outputs=)"
)
_SHAPES = "give arrays of shapes that it takes, or let it raise ValueError"

Specs = tuple[Spec | None, ...]
Mask = tuple[bool, ...]


@dataclass(frozen=True)
class Input:
    """A parameter of the description behind `launch`: an array, or a number or text that shapes may depend on."""

    name: str
    kind: Kind
    default: Any = _NOTHING
    keyword: bool = False

    NOTHING: ClassVar[Any] = _NOTHING

    @property
    def optional(self) -> bool:
        return self.kind == "array" and self.default is None


class Operator:
    """What `@adgen.operator` makes: call it with arrays of any of the libraries, or take `.torch` or `.jax` of it."""

    def __init__(
        self, describe: Callable[..., Any], code: Code, name: str, results: int, needs_grad: Any, split: Any = None
    ) -> None:
        self.describe = describe
        self.code = code
        self.name = name
        self.results = results
        self.inputs = tuple(_inputs(describe, name))
        self.arrays = tuple(each for each in self.inputs if each.kind == "array")
        self.statics = tuple(each for each in self.inputs if each.kind != "array")
        self.differentiable = _needs_grad(self, needs_grad)
        self.split = None if split is None else Split(self, split)
        kinds = [each.kind == "array" for each in self.inputs]
        self._plain = kinds == sorted(kinds, reverse=True) and all(s.default is not _NOTHING for s in self.statics)
        self._defaults = tuple(_static(name, each, each.default) for each in self.statics) if self._plain else ()
        self.__doc__ = describe.__doc__
        self.__name__ = name
        self.__module__, self.__qualname__ = describe.__module__, describe.__qualname__
        self._analyses: dict[Any, derive.Analysis] = {}
        self._compiled: dict[Any, Compiled] = {}

    def __repr__(self) -> str:
        return f"<adgen operator {self.name} of {self.code.path.name}>"

    def __reduce__(self) -> str:
        """Pickled by its name, as a function is, and its own copy."""
        return self.__qualname__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run it on arrays of NumPy, CuPy, PyTorch or JAX; new arrays come back, a tuple where there are several."""
        torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
        for value in (*args, *named.values()):
            if torch is not None and isinstance(value, torch.Tensor):
                return self.torch(*args, **named)
            if jax is not None and isinstance(value, jax.Array):
                return self.jax(*args, **named)
        return self.on(*self.bind(args, named))

    def on(self, arrays: Sequence[Any], statics: Sequence[Any]) -> Any:
        """The same of arrays of NumPy or CuPy, and of values, in the order of the description."""
        from enzyme_driver.frameworks.plain import called

        return called(self, arrays, statics)

    def check_split(self, *args: Any, parts: int = 2, **named: Any) -> None:
        """Run it on arrays of NumPy and on parts of them. Raises UsageError where `split=` is not true of it."""
        check_split(self, args, named, parts)

    def vjp(self, *args: Any, cotangents: Any, wrt: Iterable[str] | str | None = None, **named: Any) -> dict[str, Any]:
        """Arrays of NumPy or CuPy: the vector-Jacobian product by the names of inputs.

        `cotangents` is an array like the output, or a sequence of them with None for what has none. `wrt` names inputs,
        by default all those of floating point.
        """
        from enzyme_driver.frameworks.plain import product

        arrays, statics = self.bind(args, named)
        return product(self, arrays, statics, cotangents, wrt)

    @cached_property
    def torch(self) -> TorchOperator:
        """The operator of PyTorch, registered as `torch.ops.adgen.NAME`."""
        from enzyme_driver.frameworks.torch_operator import TorchOperator

        return TorchOperator(self)

    @cached_property
    def jax(self) -> JaxOperator:
        """The operator of JAX."""
        from enzyme_driver.frameworks.jax_operator import JaxOperator

        return JaxOperator(self)

    def bind(self, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arrays and the other values, in the order of the description. Raises ArgumentError."""
        if self._plain and not named and len(args) == len(self.arrays):
            return tuple(args), self._defaults
        positional = [each for each in self.inputs if not each.keyword]
        if len(args) > len(positional):
            raise ArgumentError(f"{self.name} takes {len(positional)} arguments, got {len(args)}", hint=self._spelled)
        given = dict(zip([each.name for each in positional], args, strict=False))
        for name, value in named.items():
            if name in given or all(each.name != name for each in self.inputs):
                problem = "twice" if name in given else "that it does not have"
                raise ArgumentError(f"{self.name}: argument {name!r} is given {problem}", hint=self._spelled)
            given[name] = value
        missing = [each.name for each in self.inputs if each.name not in given and each.default is _NOTHING]
        if missing:
            raise ArgumentError(f"{self.name}: argument {missing[0]!r} is missing", hint=self._spelled)
        values = [given.get(each.name, each.default) for each in self.inputs]
        pairs = list(zip(self.inputs, values, strict=True))
        arrays = tuple(value for each, value in pairs if each.kind == "array")
        return arrays, tuple(_static(self.name, each, value) for each, value in pairs if each.kind != "array")

    @property
    def _spelled(self) -> str:
        in_order, by_name = (
            [each.name for each in self.inputs if each.keyword is keyword] for keyword in (False, True)
        )
        more = f"; by name: {', '.join(by_name)}" if by_name else ""
        return f"its arguments are {', '.join(in_order)}{more}"

    def plan(self, specs: Specs, statics: Sequence[Any], place: Place = HOST) -> Plan:
        """What the description does for arrays of these shapes and dtypes."""
        present = [(each.name, spec) for each, spec in zip(self.arrays, specs, strict=True) if spec is not None]

        def returned(kernel: str | None) -> str | None:
            dtype = self.code.unit(kernel or "", place).signature.returns
            return dtype.name if dtype else None

        launch = Launch(self.name, present, returned)
        arrays = iter(launch.given())
        values = iter(statics)
        positional, keyword = [], {}
        own = iter(specs)
        for each in self.inputs:
            taken = arrays if each.kind == "array" and next(own) is not None else values
            value = None if each.kind == "array" and taken is values else next(taken)
            if each.keyword:
                keyword[each.name] = value
            else:
                positional.append(value)
        with named(self.name):
            return launch.plan(self._described(launch, present, positional, keyword), self.results)

    def _described(self, launch: Launch, present: Any, positional: Sequence[Any], keyword: Mapping[str, Any]) -> Any:
        try:
            return self.describe(launch, *positional, **keyword)
        except (ValueError, IndexError, TypeError, ZeroDivisionError, AttributeError) as problem:
            given = ", ".join(f"{name}: {spec}" for name, spec in present)
            what = f"the description of the operator {self.name} fails for {given}: {problem}"
            raise ArgumentError(what, hint=_SEEN if isinstance(problem, _MISTAKES) else _SHAPES) from problem

    def analysis(self, specs: Specs, statics: Sequence[Any], place: Place) -> derive.Analysis:
        key = (specs, keyed(statics), place)
        if key not in self._analyses:
            plan = self.plan(specs, statics, place)
            _make_room(self._analyses)

            def units(kernel: str, constant: Iterable[str]) -> Unit:
                return self.code.unit(kernel, place, constant)

            with named(self.name):
                self._analyses[key] = derive.Analysis(self.name, plan, units)
        return self._analyses[key]

    def primal(self, specs: Specs, statics: Sequence[Any], place: Place) -> Compiled:
        return self._made(("primal",), (specs, statics, place), derive.primal)

    def reverse(self, specs: Specs, statics: Sequence[Any], place: Place, wrt: Mask, given: Mask) -> Compiled:
        """`wrt` has an element for each array of the description, `given` for each output."""
        asked = self._asked(specs, wrt)
        return self._made(("vjp", wrt, given), (specs, statics, place), derive.vjp, asked, given)

    def forward(self, specs: Specs, statics: Sequence[Any], place: Place, given: Mask) -> Compiled:
        asked = self._asked(specs, given)
        return self._made(("jvp", given), (specs, statics, place), derive.jvp, asked)

    def second(
        self, specs: Specs, statics: Sequence[Any], place: Place, wrt: Mask, given: Mask, along: Mask
    ) -> Compiled:
        asked, directions = self._asked(specs, wrt), self._asked(specs, along)
        of = (specs, statics, place)
        return self._made(("second", wrt, given, along), of, derive.second, asked, given, directions)

    def _asked(self, specs: Specs, mask: Mask) -> Mask:
        """The elements of those arrays that are there."""
        return tuple(asked for asked, spec in zip(mask, specs, strict=True) if spec is not None)

    def _made(
        self,
        what: Any,
        of: tuple[Specs, Sequence[Any], Place],
        derived: Callable[..., derive.Draft],
        *masks: Mask,
    ) -> Compiled:
        specs, statics, place = of
        key = (*what, specs, keyed(statics), place)
        found = self._compiled.get(key)
        if found is None:
            analysis = self.analysis(specs, statics, place)
            _make_room(self._compiled)
            with named(self.name):
                draft = derived(analysis, *masks)
            found = self._compiled[key] = Compiled(draft.program, draft.operands, draft.results)
            if draft.differentiated:
                found.unverified = Unverified(analysis, draft.differentiated)
        return found


def operator(
    path: str | Path,
    *,
    kernel: str | None = None,
    function: str | None = None,
    name: str | None = None,
    results: int = 1,
    needs_grad: Iterable[str] | None = None,
    split: Mapping[str, int | Sequence[int]] | None = None,
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    modes: Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Operator]:
    """Make an operator of the function below, which says how the kernels of a file are launched.

    `path` is a CUDA or C++ file, or the folder of an artifact, seen from the folder of the Python file; it is compiled
    when it is first used. The function gets `launch` (see `Launch`) and then the operator's arguments: arrays, of
    which it sees `shape` and `dtype`, and values that are annotated or defaulted as int, float, bool or str. It makes
    the outputs (`launch.empty`), launches, and returns them; `results` is their number.

    `needs_grad` names the inputs that may have a derivative (default: all of floating point). `split` says along which
    axis inputs may be split, all of them together, and along which the results then are (`{"x": 0, "return": 0}`), as
    PyTorch's DTensor does it. `kernel`, `function`,
    `activity`, `flags`, `fast_math`, `modes`, `inactive` and `derivatives` are as for `adgen.compile`.
    """
    if kernel is not None and function is not None:
        raise UsageError("both kernel= and function= are given", hint="give one of them, or none")

    def decorated(describe: Callable[..., Any]) -> Operator:
        options = Options(
            dict(activity or {}), tuple(flags), fast_math, tuple(modes), tuple(inactive), dict(derivatives or {})
        )
        home = describe.__globals__.get("__file__")
        place = Path(path).expanduser()
        if not place.is_absolute():
            place = (Path(home).parent if home else Path.cwd()) / place
        chosen = name or describe.__name__
        if not re.fullmatch(r"[A-Za-z_]\w*", chosen):
            raise UsageError(f"{chosen!r} is no name of an operator", hint="give name= letters, digits and _")
        made = Operator(describe, Code(place, kernel or function, options), chosen, results, needs_grad, split)
        if hasattr(sys.modules.get("torch"), "library"):
            with suppress(UsageError, ImportError, AttributeError):  # as of a second one of a name: who asks is told
                _ = made.torch  # torch.compile could not make it
        return made

    return decorated


def _make_room(known: dict[Any, Any]) -> None:
    """What was found for shapes that come and go does not stay for ever."""
    if len(known) >= _MOST:
        known.clear()


@contextmanager
def named(operator_name: str) -> Iterator[None]:
    """Errors inside say which operator it was."""
    try:
        yield
    except AdgenError as error:
        if operator_name in error.reason:
            raise
        reason = f"the operator {operator_name}: {error.reason}"
        raise type(error)(reason, hint=error.hint, location=error.location, log=error.log) from error


def _inputs(describe: Callable[..., Any], name: str) -> Iterator[Input]:
    parameters = list(inspect.signature(describe).parameters.values())
    if not parameters:
        raise UsageError(f"the operator {name} describes nothing", hint=f"def {name}(launch, x, ...)")
    for each in parameters[1:]:
        if each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD}:
            raise UsageError(f"the operator {name}: *{each.name} cannot be described", hint="name each argument")
        yield Input(each.name, _kind(each), each.default, each.kind == each.KEYWORD_ONLY)


def _kind(parameter: inspect.Parameter) -> Kind:
    annotation = parameter.annotation
    word = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    for kind in ("float", "int", "bool", "str"):
        if word == kind:
            return kind
    if parameter.annotation is _NOTHING and type(parameter.default) in _STATIC.values():
        return type(parameter.default).__name__  # type: ignore[return-value]
    return "array"


def _static(name: str, each: Input, value: Any) -> Any:
    wanted = _STATIC[each.kind]
    if type(value) is wanted:
        return value
    if isinstance(value, (str, type(None))) or (hasattr(value, "shape") and value.shape != ()):
        raise _no_static(name, each, type(value).__name__)
    if getattr(value, "requires_grad", False):
        raise _no_static(name, each, "a tensor that requires a gradient")
    if type(value).__name__.startswith("Sym"):
        return value
    try:
        made = wanted(value)
    except (TypeError, ValueError) as problem:  # as a number of JAX that is being traced
        raise _no_static(name, each, type(value).__name__) from problem
    if each.kind != "float" and made != value:
        raise _no_static(name, each, repr(value))
    return made


def _no_static(name: str, each: Input, got: str) -> ArgumentError:
    return ArgumentError(
        f"{name}: argument {each.name!r} is described as {each.kind}, got {got}",
        hint="annotate it as an array in the description, or give a plain value",
    )


def keyed(statics: Sequence[Any]) -> tuple[Any, ...]:
    """What tells them apart from others: 0.0 and -0.0 are equal, and a kernel can see the difference."""
    return (*statics, *map(repr, statics)) if 0.0 in statics else tuple(statics)


def _needs_grad(operator: Operator, wanted: Iterable[str] | None) -> tuple[bool, ...]:
    names = [each.name for each in operator.arrays]
    if wanted is None:
        return (True,) * len(names)
    asked = set(wanted)
    unknown = sorted(asked - set(names))
    if unknown:
        raise UsageError(f"the operator {operator.name} has no array {unknown[0]!r}", hint=f"it has {', '.join(names)}")
    return tuple(name in asked for name in names)
