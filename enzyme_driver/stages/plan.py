"""Which entries are compiled, and which of their parameters are differentiated. Pure: no tool runs here."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from enzyme_driver.errors import AdgenError, Location, NameNotFoundError, RefusedError, SourceError, UsageError
from enzyme_driver.model import (
    Activity,
    DataType,
    Mode,
    Parameter,
    Signature,
    Variable,
    bare_name,
    owner,
    plain_name,
)
from enzyme_driver.stages.const_members import is_const_throughout, said, with_const_members
from enzyme_driver.stages.diagnostics import in_headers
from enzyme_driver.stages.signature import Description

OF_ARRAYS = frozenset({"owned", "fresh", "discarded"})
"""Activities that only the shadow of an array may have."""

WITHOUT_DERIVATIVE = "curandState"
"""Structs of CUDA's headers that hold floating point, but nothing that one would differentiate."""

_LISTED = 12
"""Of more templates some are named."""
_WHOLE = {"char", "short", "int", "unsigned", "long", "size_t", "uint32_t", "int32_t", "int64_t"}
"""Types of whole numbers."""


_OF_ENZYME = re.compile(r"__enzyme_(autodiff|fwddiff|augmentfwd|reverse)\w*")
_OF_LIBRARY = re.compile(
    r"(function|any|optional|variant|(multi)?(map|set)|unordered_(multi)?(map|set)|(forward_)?list|deque"
    r"|(shared|unique|weak)_ptr|basic_string|\w+_iterator)(<|$)"
)
"""Types of libstdc++, whose members are its own."""


@dataclass(frozen=True)
class Plan:
    """The entries to compile, their activities decided; `refused` are those that cannot be, with the reason."""

    entries: tuple[Signature, ...]
    refused: tuple[tuple[Signature, AdgenError], ...] = ()

    @property
    def option(self) -> str:
        """The plan as the passes read it: symbol=activity:activity;..."""
        return ";".join(f"{e.symbol}={':'.join(map(said, e))}" for e in self.entries)

    @property
    def shadowed_variables(self) -> str:
        """The symbols of the device's variables that have a shadow, as the passes read them."""
        symbols = (v.symbol for entry in self.entries for v in entry.variables if v.has_shadow)
        return ";".join(dict.fromkeys(symbols))

    @property
    def symbols(self) -> str:
        """With the numbers of the vectors that a function gets of its own: symbol@2@3;..."""
        return ";".join(map(_with_resized, self.entries))

    @property
    def gradient(self) -> Plan:
        """The gradients as entries of their own."""
        return replace(self, entries=tuple(entry.gradient for entry in self.entries))

    @property
    def forward(self) -> Plan:
        """The plan in forward mode."""
        return replace(self, entries=tuple(entry.forward for entry in self.entries))

    def only(self, symbols: Iterable[str]) -> Plan:
        wanted = set(symbols)
        return replace(self, entries=tuple(entry for entry in self.entries if entry.symbol in wanted))

    def without(self, reasons: Mapping[str, AdgenError]) -> Plan:
        """The plan, in which the entries with these symbols are refused."""
        left = self.only(entry.symbol for entry in self.entries if entry.symbol not in reasons)
        refused = tuple((entry, reasons[entry.symbol]) for entry in self.entries if entry.symbol in reasons)
        return replace(left, refused=(*self.refused, *refused))


def _with_resized(entry: Signature) -> str:
    return "@".join((entry.symbol, *(str(number) for number, each in enumerate(entry) if each.resized)))


def with_resized(plan: Plan, changes: Callable[[Signature, int], bool]) -> Plan:
    """The plan, in which vectors are marked of which a function changes the size."""

    def marked(entry: Signature) -> Signature:
        parameters = (
            replace(each, resized=True) if each.can_be_resized and changes(entry, number) else each
            for number, each in enumerate(entry)
        )
        return replace(entry, parameters=tuple(parameters))

    return replace(plan, entries=tuple(map(marked, plan.entries)))


SWEEPS: tuple[Mode, Mode] = ("reverse", "forward")
"""The modes that Enzyme has; a second derivative is one after the other."""

Unit = tuple[Mode, str]
"""A mode, and the symbol of an entry that is differentiated in it."""


@dataclass(frozen=True)
class Derivatives:
    """What is asked of Enzyme: of which entries the gradient, and through which ones tangents are carried.

    `seconds` says that tangents will be carried through the gradients, too.
    """

    gradients: Plan
    tangents: Plan
    seconds: bool = False

    @property
    def units(self) -> tuple[Unit, ...]:
        gradients: list[Unit] = [("reverse", entry.symbol) for entry in self.gradients.entries]
        return (*gradients, *(("forward", entry.symbol) for entry in self.tangents.entries))

    @property
    def entries(self) -> tuple[Signature, ...]:
        """Each entry that has a unit, once."""
        by_symbol = {entry.symbol: entry for entry in (*self.tangents.entries, *self.gradients.entries)}
        return tuple(by_symbol[symbol] for symbol in dict.fromkeys(symbol for _, symbol in self.units))

    def only(self, units: Iterable[Unit]) -> Derivatives:
        wanted = set(units)
        gradients, tangents = ({symbol for mode, symbol in wanted if mode == each} for each in SWEEPS)
        return Derivatives(self.gradients.only(gradients), self.tangents.only(tangents), self.seconds)


def derivatives(plan: Plan, modes: Sequence[Mode]) -> Derivatives:
    """All that can be differentiated in these modes: the entries in which something is active."""
    gradients, tangents = (
        of.only(entry.symbol for entry in of.entries if entry.shadowed and mode in modes)
        for mode, of in zip(SWEEPS, (plan, plan.forward), strict=True)
    )
    return Derivatives(gradients, tangents, "second" in modes)


def unread(name: str, reason: SourceError) -> tuple[Signature, AdgenError]:
    """A kernel that clang did not read, of which no more is known."""
    where = reason.location or Location("")
    return Signature(name, "kernel", name, (), file=where.file, line=where.line), reason


def unmade(
    description: Description, templates: Mapping[str, int], unread: Sequence[tuple[str, SourceError]], file: str
) -> tuple[tuple[str, SourceError], ...]:
    """Templates of kernels of which clang sees no instance, and why nothing is made of them."""
    known = {bare_name(entry.name) for entry in description.entries} | {name for name, _ in unread}
    reason = "the file makes no instance of this template"
    return tuple(
        (template, SourceError(reason, hint=f"name one, as in {_instance(template)}", location=Location(file, line)))
        for template, line in templates.items()
        if bare_name(template) not in known
    )


def _instance(template: str) -> str:
    """How one of the template is asked for, by arguments that could be meant."""
    name, _, parameters = template.removesuffix(">").partition("<")
    return f"-k '{name}<{', '.join(map(_argument, parameters.split(', ')))}>'"


def _argument(parameter: str) -> str:
    """One that fits: of a value the type stands before its name."""
    *words, _ = parameter.split()
    return "float" if not words else "true" if "bool" in words else "32" if _WHOLE & set(words) else "..."


def missing(description: Description, names: Sequence[str]) -> tuple[str, ...]:
    """The names that the module does not define: they have to be instantiated, or do not exist."""
    return tuple(name for name in names if not _matches(description.entries, name))


def qualified(names: Sequence[str], templates: Iterable[str]) -> tuple[str, ...]:
    """The names with the namespaces of the only template that is meant, where they are not said."""

    def full(name: str) -> str:
        meant = [each for each in templates if bare_name(each) == name.partition("<")[0].strip()]
        return meant[0].partition("<")[0] + name[name.index("<") :] if len(meant) == 1 and "<" in name else name

    return tuple(map(full, names))


def not_found(description: Description, name: str, file: str, templates: Iterable[str] = ()) -> NameNotFoundError:
    """The error for a name that is not there, with the names that are."""
    known = [entry.name for entry in description.offered]
    meant = [each for each in (*known, *templates) if bare_name(each) == bare_name(name)]
    near = [] if meant else get_close_matches(name, known, n=3, cutoff=0.4)
    listed = ", ".join(dict.fromkeys(meant or near or [*known, *templates])) or "none"
    said = "did you mean" if near else "the file has"
    return NameNotFoundError(
        f"there is no kernel or function {name!r}",
        hint=f"{said}: {listed}; a template is named with its arguments, as in axpy<float>",
        location=Location(file),
    )


def no_instance(name: str, template: str, why: SourceError, place: Location) -> NameNotFoundError:
    """The error for an instance of a template that clang does not make, with what it says first."""
    said = why.reason.splitlines()[0].removeprefix("error: ")
    if "adgen_instance" in said:  # the name of what asks for the instance
        said = "the arguments do not fit, or several templates have that name"
    return NameNotFoundError(
        f"clang cannot make {name}: {said}",
        hint=f"the template is {template}: give it all arguments that have no default, of types that the file knows; "
        f"of several templates, instantiate one in the file: template __global__ void {name}(...);",
        location=place,
    )


def nothing(file: str, templates: Collection[str] = (), absent: Sequence[str] = ()) -> NameNotFoundError:
    """The error for a file without kernels or functions; it may have templates of which it makes no instance.

    They may also be in the headers that are `absent`.
    """
    listed = [*list(templates)[:_LISTED], *([f"{len(templates) - _LISTED} more"] if len(templates) > _LISTED else [])]
    has = f"the file has {', '.join(listed)}: " if listed else "a kernel is a __global__ function; "
    hint = f"{has}a template needs its arguments, such as {_instance(next(iter(templates), 'axpy<T>'))}"
    reason = "the file has no kernel or function to compile"
    if listed:
        reason = "the file makes no instance of its templates of kernels"
    elif absent:
        hint = f"a kernel is a __global__ function; {in_headers(absent)}"
    return NameNotFoundError(reason, hint=hint, location=Location(file))


def make(description: Description, names: Sequence[str], activity: Mapping[str, Activity], file: str) -> Plan:
    """Choose the entries and decide the activity of each parameter.

    Raises NameNotFoundError for an entry or a parameter that is not there, UsageError for an overloaded name or an
    activity that does not fit the type, RefusedError for a type that cannot be differentiated.
    """
    chosen = [_one(description, name, file) for name in names] if names else description.offered
    if not chosen:
        raise nothing(file)
    chosen = [replace(e, variables=_decided_variables(_variables(e, description), activity)) for e in chosen]
    _check_parameters(chosen, activity, file)
    decided, refused = [], []
    for entry in dict.fromkeys(chosen):
        try:
            _check_complete(entry, description)
            decided.append(_decided(entry, activity))
        except RefusedError as reason:
            refused.append((entry, reason))
    if refused and (names or not decided):
        raise refused[0][1]
    return Plan(tuple(decided), tuple(refused))


def _matches(entries: Iterable[Signature], name: str) -> list[Signature]:
    """Entries of that full name; else those whose name without namespaces it is; else the one of that symbol; else the
    only instance of the template."""
    wanted = plain_name(name)
    full = [entry for entry in entries if plain_name(entry.name) == wanted]
    unqualified = [entry for entry in entries if plain_name(entry.name).endswith(f"::{wanted}")]
    symbol = [entry for entry in entries if entry.symbol == name]
    instances = [
        entry for entry in entries if wanted in {bare_name(entry.name), plain_name(entry.name.partition("<")[0])}
    ]
    return full or unqualified or symbol or (instances if len(instances) == 1 else [])


def _one(description: Description, name: str, file: str) -> Signature:
    found = _matches(description.entries, name)
    if not found:
        raise not_found(description, name, file)
    if len(found) > 1:
        listed = ", ".join(f"{entry.symbol} (line {entry.line})" for entry in found)
        raise UsageError(f"{name!r} is overloaded", hint=f"name one by its symbol: {listed}", location=Location(file))
    return found[0]


def _check_parameters(chosen: Sequence[Signature], activity: Mapping[str, Activity], file: str) -> None:
    known = list(dict.fromkeys(name for entry in chosen for name in entry.names))
    known += dict.fromkeys(variable.name for entry in chosen for variable in entry.variables)
    for name in activity:
        if name not in known and owner(name) not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.6)
            meant = f"did you mean {' or '.join(near)}?"
            raise NameNotFoundError(
                f"no parameter is called {name!r}",
                hint=meant if near else f"the parameters and variables are {', '.join(known)}",
                location=Location(file, chosen[0].line),
            )


def _variables(entry: Signature, description: Description) -> tuple[Variable, ...]:
    """The file's variables; what a parameter hides is called as C++ calls it there."""
    return tuple(replace(v, name=f"::{v.name}") if v.name in entry.names else v for v in description.variables)


def _decided_variables(variables: tuple[Variable, ...], activity: Mapping[str, Activity]) -> tuple[Variable, ...]:
    decided = tuple(replace(v, activity=activity.get(v.name, "const")) for v in variables)
    for variable in decided:
        if variable.activity in OF_ARRAYS:
            raise UsageError(
                f"the variable {variable.name!r} cannot be {variable.activity}: all threads of a launch share it",
                hint=f"say {variable.name}=active",
            )
        if variable.has_shadow and not (variable.dtype.has_floats or variable.dtype.has_pointers):
            raise UsageError(
                f"the variable {variable.name!r} is {variable.dtype}, which has no derivative",
                hint="only floating point can be active; leave the variable out of activity",
            )
    return decided


def _check_complete(entry: Signature, description: Description) -> None:
    if entry.symbol in description.undefined:
        called, line = description.undefined[entry.symbol]
        why = description.unread.get(bare_name(called))
        if why:
            raise RefusedError(
                f"{entry.name} calls {called}, which clang does not read: {why.reason.splitlines()[0]}",
                hint=why.hint,
                location=why.location,
            )
        if of_enzyme := _OF_ENZYME.search(called):
            raise RefusedError(
                f"{entry.name} calls {of_enzyme[0]}, which stands for a gradient that clang's plugin of Enzyme makes",
                hint="adgen makes gradients by itself: name what is differentiated there, with a kernel around it if "
                "it is a device function",
                location=Location(entry.file, line),
            )
        raise RefusedError(
            f"{entry.name} calls {called}, which is defined nowhere",
            hint="put the function's body into the file, or include the file that has it",
            location=Location(entry.file, line),
        )


def _decided(entry: Signature, activity: Mapping[str, Activity]) -> Signature:
    if entry.returns is not None and entry.returns.kind not in {"float", "int", "uint", "bool"}:
        raise RefusedError(
            f"{entry.name} returns {entry.returns}, which cannot be handed to Python",
            hint="return a number or a struct of numbers, or write the result through a pointer parameter",
            location=Location(entry.file, entry.line),
        )
    for parameter in entry:
        _check_returned(entry, parameter) if parameter.is_result else _check_handed(entry, parameter)
    named = (with_const_members(entry, p, activity) for p in entry)
    parameters = tuple(replace(p, activity=_activity(entry, p, activity.get(p.name))) for p in named)
    decided = any(p.activity != "const" or p.name in activity for p in parameters if not p.is_result)
    if _is_of_numbers(entry) and not decided and not any(each.has_shadow for each in entry.variables):
        parameters = tuple(replace(p, activity=_of_number(p)) for p in parameters)
    shadowed = any(p.has_shadow for p in parameters if not p.is_result) or any(v.has_shadow for v in entry.variables)
    if entry.result and not (shadowed and _has_derivative(entry.result)):
        parameters = (*parameters[:-1], replace(parameters[-1], activity="const"))
    return replace(entry, parameters=parameters)


def _is_of_numbers(entry: Signature) -> bool:
    """Whether it is a function in the sense of mathematics: of its numbers people want derivatives unasked."""
    if entry.result:
        return _has_derivative(entry.result)
    return entry.kind == "function" and entry.returns is not None and entry.returns.has_floats


def _has_derivative(result: Parameter) -> bool:
    return (result.dtype.elements or result.dtype).has_floats


def _of_number(parameter: Parameter) -> Activity:
    if parameter.is_result:
        return parameter.activity
    by_value = parameter.form != "pointer" and not parameter.dtype.has_pointers
    return "active" if by_value and parameter.dtype.has_floats else "const"


def _check_returned(entry: Signature, result: Parameter) -> None:
    """Raise for a struct of which Python cannot make anything."""
    if result.dtype.elements:
        return
    opaque = next((leaf for leaf in result.dtype.leaves() if leaf.kind == "opaque" and leaf.size), None)
    what = str(opaque) if opaque else "pointers" if result.dtype.has_pointers else ""
    if what:
        raise RefusedError(
            f"{entry.name} returns {result.dtype} with {what}, which cannot be handed to Python",
            hint="return a number, a struct of numbers or a std::vector of either, or write the result through a "
            "pointer parameter",
            location=Location(entry.file, entry.line),
        )


def _check_handed(entry: Signature, parameter: Parameter) -> None:
    """Raise for what only C++ makes: a std::map, a std::function, an object with virtual functions."""
    kept = _made_by_cpp(parameter.dtype)
    if kept:
        verb = "is" if parameter.dtype.fields[0].name.startswith(("_M_", "_vptr")) else "holds"
        raise RefusedError(
            f"parameter {parameter.name!r} of {entry.name} {verb} {kept}, which cannot be handed over from Python",
            hint=f"write a function that takes numbers and arrays, makes {kept} and calls "
            f"{entry.name}, in a file of your own that includes this one",
            location=Location(entry.file, entry.line),
        )


def _made_by_cpp(dtype: DataType) -> str:
    """What it is or holds of that kind, in words; empty where it is nothing of it."""
    first = dtype.fields[0].name if dtype.fields else ""
    if first.startswith("_vptr"):
        return "an object with virtual functions"
    library = _OF_LIBRARY.match(dtype.name) if first.startswith("_M_") else None
    if library and library[1].endswith("_iterator"):
        return "an iterator of the library"
    if library:
        return f"a std::{library[1].removeprefix('basic_')}"
    return next((made for member in dtype.fields if (made := _made_by_cpp(member.type))), "")


def _activity(entry: Signature, parameter: Parameter, asked: Activity | None) -> Activity:
    if asked == "const" or (asked is None and parameter.dtype.name.startswith(WITHOUT_DERIVATIVE)):
        return "const"
    if is_const_throughout(parameter):
        return "const"
    if parameter.form == "pointer":
        return _pointer_activity(entry, parameter, asked)
    if asked in OF_ARRAYS:
        raise UsageError(
            f"parameter {parameter.name!r} of {entry.name} cannot be {asked}: it is no array",
            hint="owned says of an array that one thread alone accumulates into each element of its shadow, fresh that "
            "its shadow holds zeros, discarded that nobody needs it after a gradient",
            location=Location(entry.file, entry.line),
        )
    if parameter.form == "struct" and parameter.dtype.has_pointers:
        return "duplicated"
    if asked is None:
        return "const"
    if not parameter.dtype.has_floats:
        raise _no_floats(entry, parameter)
    return "active"


def _without_pointers(entry: Signature, parameter: Parameter) -> str:
    """What to do where a parameter points to pointers."""
    if entry.kind == "kernel":
        return f"pass one array, or say {parameter.name}=const in activity if no derivative flows there"
    return (
        f"write a function that takes one array, makes the pointers and calls {entry.name}, in a file of your own that "
        "includes this one (std::vector<double *> rows(n); rows[i] = a + i * m;), or say "
        f"{parameter.name}=const in activity if no derivative flows there"
    )


def _pointer_activity(entry: Signature, parameter: Parameter, asked: Activity | None) -> Activity:
    dtype = parameter.dtype
    if parameter.is_table and asked not in OF_ARRAYS:
        return "duplicated" if dtype.pointee and dtype.pointee.has_floats else "const"
    if dtype.has_pointers:
        raise RefusedError(
            f"parameter {parameter.name!r} of {entry.name} points to pointers, whose shadows adgen cannot make",
            hint=_without_pointers(entry, parameter),
            location=Location(entry.file, entry.line),
        )
    opaque = next((leaf for leaf in dtype.leaves() if leaf.kind == "opaque"), None)
    if opaque and (opaque is dtype or opaque.size or dtype.has_floats):  # bit-fields are integers without a size
        what = str(dtype) if opaque is dtype else f"{dtype}, which holds {opaque}"
        if what == "a function":
            raise RefusedError(
                f"parameter {parameter.name!r} of {entry.name} points to a function, which could be any",
                hint=f"make {parameter.name} a template parameter, or a number by which the kernel chooses (switch)",
                location=Location(entry.file, entry.line),
            )
        raise RefusedError(
            f"parameter {parameter.name!r} of {entry.name} points to {what}: adgen sees no floating point there",
            hint=f"say {parameter.name}=const in activity if no derivative flows there, or give it a type of floats",
            location=Location(entry.file, entry.line),
        )
    if dtype.has_floats:
        kept = asked in {"fresh", "discarded"} or (asked == "owned" and entry.kind == "kernel")
        return asked if asked and kept else "duplicated"
    if asked is not None:
        raise _no_floats(entry, parameter)
    return "const"


def _no_floats(entry: Signature, parameter: Parameter) -> UsageError:
    return UsageError(
        f"parameter {parameter.name!r} of {entry.name} is {parameter.dtype}, which has no derivative",
        hint="only floating point can be active; leave the parameter out of activity",
        location=Location(entry.file, entry.line),
    )
