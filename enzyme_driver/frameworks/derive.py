"""From a plan to programs: the primal, vector-Jacobian and Jacobian-vector products, and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from enzyme_driver.errors import ArgumentError, RefusedError, UsageError
from enzyme_driver.frameworks.code import Unit
from enzyme_driver.frameworks.launches import GradientQuery, StandIn, StandIns, bound, element_size, operation, parts
from enzyme_driver.frameworks.plan import Copying, Filling, Plan, PlannedLaunch, Spec
from enzyme_driver.frameworks.program import Add, Copy, Program, Zero
from enzyme_driver.frameworks.queues import check_order
from enzyme_driver.model import Parameter
from enzyme_driver.runtime.call.slots import written

Units = Callable[[str, Iterable[str]], Unit]
"""The unit of a kernel's name, whose parameters of these names have no derivative."""

Move = PlannedLaunch | Filling | Copying


@dataclass(frozen=True)
class Use:
    """An array among a launch's arguments."""

    parameter: Parameter
    number: int

    @property
    def is_number(self) -> bool:
        """Whether the launch takes what is in it by value."""
        return not self.parameter.is_pointer

    @property
    def reads(self) -> bool:
        return self.is_number or self.parameter.reads

    @property
    def writes(self) -> bool:
        return written(self.parameter)

    @property
    def shadowed(self) -> bool:
        return self.parameter.has_shadow


class Analysis:
    """Which launch uses which array how; the plan is checked against the signatures."""

    def __init__(self, name: str, plan: Plan, units: Units) -> None:
        self.name = name
        self.plan = plan
        self.units = units
        self.moves: list[Move] = list(self._without_empty_grids())
        self._check()

    @cached_property
    def _numbered(self) -> dict[int, StandIn]:
        known = StandIns(Program())
        return {number: known.of(number, planned.spec) for number, planned in enumerate(self.plan.arrays)}

    def uses(self, step: PlannedLaunch, *, forward: bool = False) -> list[Use]:
        """With `forward` every number of floating point has a derivative."""
        signature = self.units(step.name, ()).signature
        found = parts(signature.forward if forward else signature, step, self._numbered)
        return [Use(parameter, item.buffer) for parameter, item in found]

    def written(self, move: Move) -> list[int]:
        if not isinstance(move, PlannedLaunch):
            return [move.target]
        own = [use.number for use in self.uses(move) if use.writes]
        return [*own, move.result] if move.result >= 0 else own

    def touched(self, move: Move) -> list[int]:
        if isinstance(move, PlannedLaunch):
            return [*(use.number for use in self.uses(move)), *self.written(move)]
        return [move.target] if isinstance(move, Filling) else [move.target, move.source]

    def _without_empty_grids(self) -> Iterator[Move]:
        """A launch without blocks, as of empty arrays, writes nothing; what it was to write is zero."""
        for move in self.plan.steps:
            if not isinstance(move, PlannedLaunch) or move.grid is None or 0 not in move.grid:
                yield move
                continue
            uses = self.uses(move)
            if all(0 not in self.plan.arrays[use.number].spec.shape for use in uses):
                raise ArgumentError(
                    f"the operator {self.name}: an empty grid {move.grid}, and no array of the launch is empty",
                    hint="a grid has at least one block",
                )
            yield from (Filling(use.number) for use in uses if use.writes)

    def _check(self) -> None:
        made: set[int] = set()
        for move in self.moves:
            for number in self.written(move):
                planned = self.plan.arrays[number]
                if planned.given:
                    what = f"the operator {self.name}: a launch writes to its input {planned.name!r}"
                    raise UsageError(
                        what, hint=f"an operator changes no input: write {planned.name} = launch.copy({planned.name})"
                    )
                made.add(number)
        for number in self.plan.outputs:
            if number not in made:
                raise UsageError(f"the operator {self.name} returns an array that no launch writes")


class Draft:
    """A program that is being written: which buffer holds an array, and which its shadow or its tangent."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.plan = analysis.plan
        self.program = Program(analysis.name)
        self.stand_ins = StandIns(self.program)
        self.content: dict[int, int] = {}
        self.shadow: dict[int, int] = {}
        self.operands: list[Spec] = []
        self.results: list[Spec] = []
        self.differentiated: list[tuple[PlannedLaunch, Unit]] = []
        """Launches whose gradients it has."""
        for number in range(self.plan.inputs):
            self.content[number] = self.operand(number)

    def operand(self, number: int) -> int:
        if self.program.externals == 0:
            self.operands.append(self.spec(number))
        return self.program.buffer(self.spec(number).nbytes)

    def result(self, number: int) -> int:
        self.results.append(self.spec(number))
        return self.program.buffer(self.spec(number).nbytes)

    def close(self) -> None:
        """What is used from now on is scratch memory."""
        self.program.externals = len(self.program.sizes)
        for number in range(len(self.plan.arrays)):
            if number not in self.content:
                self.content[number] = self.operand(number)

    def spec(self, number: int) -> Spec:
        return self.plan.arrays[number].spec

    def zero(self, buffer: int) -> None:
        self.program.ops.append(Zero(buffer))

    def copy(self, target: int, source: int) -> None:
        self.program.ops.append(Copy(target, source))

    def add(self, target: int, source: int, number: int) -> None:
        self.program.ops.append(Add(target, source, element_size(self.spec(number))))

    def stand_in(self, buffer: int, number: int) -> StandIn:
        return self.stand_ins.of(buffer, self.spec(number))

    def values(self, unit: Unit, step: PlannedLaunch) -> tuple[object, ...]:
        made = {number: self.stand_in(buffer, number) for number, buffer in self.content.items()}
        return bound(unit.signature, step, made)

    def primal(self, move: Move) -> None:
        if isinstance(move, Filling):
            self.zero(self.content[move.target])
        elif isinstance(move, Copying):
            self.copy(self.content[move.target], self.content[move.source])
        else:
            unit = self.analysis.units(move.name, ())
            question = GradientQuery(unit, move, self.values(unit, move), {}, {})
            result = self.content[move.result] if move.result >= 0 else -1
            self.program.ops.append(operation(question, None, self.stand_ins, result))

    def shadows(self, unit: Unit, uses: Iterable[Use], *, forward: bool = False) -> dict[str, StandIn]:
        """By the parameter's name; what has none gets memory that nobody looks at, or that holds zeros."""
        found: dict[str, StandIn] = {}
        for use in uses:
            if use.shadowed:
                if use.number not in self.shadow:
                    self.shadow[use.number] = self.operand(use.number)
                    self.zero(self.shadow[use.number])
                found[use.parameter.name] = self.stand_in(self.shadow[use.number], use.number)
        signature = unit.signature.forward if forward else unit.signature
        for parameter in signature.shadowed:
            if parameter.form == "scalar" and parameter.name not in found:  # a plain number
                spec = Spec((), parameter.dtype.name)
                buffer = self.program.buffer(spec.nbytes)
                self.zero(buffer)
                found[parameter.name] = self.stand_ins.of(buffer, spec)
        return found


def primal(analysis: Analysis) -> Draft:
    """Operands: the inputs. Results: the outputs."""
    draft = Draft(analysis)
    for number in analysis.plan.outputs:
        draft.content[number] = draft.result(number)
    draft.close()
    for move in analysis.moves:
        draft.primal(move)
    return draft


def vjp(analysis: Analysis, wrt: Sequence[bool], given: Sequence[bool]) -> Draft:
    """Operands: the inputs, and the cotangents of the outputs that are `given` one. Results: those of `wrt` inputs."""
    draft, plan = Draft(analysis), analysis.plan
    seeds = [number for number, there in zip(plan.outputs, given, strict=True) if there]
    cotangents = {number: draft.operand(number) for number in seeds}
    wanted = [number for number, asked in enumerate(wrt) if asked]
    for number in wanted:
        draft.shadow[number] = draft.result(number)
    draft.close()
    active, relevant = _path(analysis, wanted, seeds)
    for number in active - set(wanted):
        draft.shadow[number] = draft.operand(number)
    for number in sorted(active):
        if number in cotangents:
            draft.copy(draft.shadow[number], cotangents[number])
        else:
            draft.zero(draft.shadow[number])
    for number in (each for each in wanted if each not in active):
        draft.zero(draft.shadow[number])
    if relevant:
        check_order(analysis, active & set(seeds))
        _reversed(draft, active, relevant)
    return draft


def _path(analysis: Analysis, wanted: Iterable[int], seeds: Iterable[int]) -> tuple[set[int], list[int]]:
    """The arrays that depend on wanted inputs, and the moves through which seeded outputs do."""
    active = {number for number in wanted if analysis.plan.arrays[number].spec.differentiable}
    moving = []
    for position, move in enumerate(analysis.moves):
        if isinstance(move, Copying) and move.source in active:
            active.add(move.target)
            moving.append(position)
        if isinstance(move, Filling) and move.target in active:
            moving.append(position)
        if not isinstance(move, PlannedLaunch):
            continue
        uses = analysis.uses(move)
        reached = [use for use in uses if use.reads and use.number in active]
        _check_shadowed(analysis, reached)
        if reached:
            outputs = [use.number for use in uses if use.writes and use.shadowed]
            active |= {*outputs, *([move.result] if move.result >= 0 else [])}
            moving.append(position)
    needed = set(seeds)
    relevant = []
    for position in reversed(moving):
        move = analysis.moves[position]
        if needed & set(analysis.written(move)):
            relevant.append(position)
            needed |= {number for number in analysis.touched(move) if number in active}
    return active, relevant


def _check_shadowed(analysis: Analysis, reached: Iterable[Use]) -> None:
    for use in reached:
        if not use.shadowed:
            kind = "active" if use.is_number else "duplicated"
            name = use.parameter.name
            raise RefusedError(
                f"the operator {analysis.name}: no derivative is taken with respect to {name!r}",
                hint=f'write @adgen.operator(..., activity={{"{name}": "{kind}"}}), or leave it out of needs_grad',
            )


def _reversed(draft: Draft, active: set[int], relevant: Sequence[int]) -> None:
    """The launches before the last one that matters, then the gradients from the last to the first.

    A gradient runs its primal again, so that arrays have to hold what they did before it.
    """
    moves, last = draft.analysis.moves, relevant[0]
    saved = _run_again(draft, relevant)

    def restore(position: int) -> None:
        for number in draft.analysis.written(moves[position]):
            if (position, number) in saved:
                draft.copy(draft.content[number], saved[position, number])

    for position in range(last, -1, -1):
        if position < last:
            restore(position)
        if position in relevant:
            _backwards(draft, moves[position], active)
            if isinstance(moves[position], PlannedLaunch):
                restore(position)


def _run_again(draft: Draft, relevant: Sequence[int]) -> dict[tuple[int, int], int]:
    """The launches before the last one that matters; by position and array a copy of what is needed and overwritten."""
    moves, last = draft.analysis.moves, relevant[0]
    saved: dict[tuple[int, int], int] = {}
    defined: set[int] = set(range(draft.plan.inputs))
    for position, move in enumerate(moves[: last + 1]):
        for number in draft.analysis.written(move):
            if number in defined and _is_needed_before(draft.analysis, relevant, position, number):
                saved[position, number] = draft.operand(number)
                draft.copy(saved[position, number], draft.content[number])
            defined.add(number)
        if position < last:
            draft.primal(move)
    return saved


def _is_needed_before(analysis: Analysis, relevant: Iterable[int], position: int, number: int) -> bool:
    """Whether a gradient at or before this position uses what the array held before it."""
    return any(before <= position and number in analysis.touched(analysis.moves[before]) for before in relevant)


def _backwards(draft: Draft, move: Move, active: set[int]) -> None:
    if isinstance(move, Filling):
        draft.zero(draft.shadow[move.target])
        return
    if isinstance(move, Copying):
        draft.add(draft.shadow[move.source], draft.shadow[move.target], move.target)
        draft.zero(draft.shadow[move.target])
        return
    analysis = draft.analysis
    uses = analysis.uses(move)
    shared = {use.parameter.name for use in uses if use.number in active}
    own = {use.parameter.name for use in uses if use.shadowed and use.parameter.name not in shared}
    constant = [name for name in own if "." not in name and "[" not in name]
    numbers = [
        parameter.name
        for parameter in analysis.units(move.name, ()).signature.shadowed
        if parameter.form == "scalar" and parameter.name not in {use.parameter.name for use in uses}
    ]
    unit = analysis.units(move.name, [*constant, *numbers])
    draft.differentiated.append((move, unit))
    given = {parameter.name for parameter in unit.signature.shadowed}
    kept = [use for use in uses if use.parameter.name.partition(".")[0].partition("[")[0] in given]
    last = draft.stand_in(draft.shadow[move.result], move.result) if move.result >= 0 else None
    shadows = draft.shadows(unit, kept)
    apart = {use.parameter.name: draft.operand(use.number) for use in _once_more(draft.analysis, kept, active)}
    for use in kept:
        if use.parameter.name in apart:
            draft.zero(apart[use.parameter.name])
            shadows[use.parameter.name] = draft.stand_in(apart[use.parameter.name], use.number)
    question = GradientQuery(unit, move, draft.values(unit, move), shadows, {}, last)
    draft.program.ops.append(operation(question, "reverse", draft.stand_ins))
    for use in kept:
        if use.parameter.name in apart:
            draft.add(draft.shadow[use.number], apart[use.parameter.name], use.number)
    if move.result >= 0:
        draft.zero(draft.shadow[move.result])


def _once_more(analysis: Analysis, uses: Iterable[Use], active: set[int]) -> Iterator[Use]:
    """Arrays that a launch is given for a second parameter, too: a derivative takes a shadow once."""
    seen: dict[int, list[Use]] = {}
    for use in uses:
        others = seen.setdefault(use.number, [])
        if use.number in active and use.shadowed and others:
            if any(each.writes for each in (use, *others)):
                names = f"{others[0].parameter.name!r} and {use.parameter.name!r}"
                raise RefusedError(
                    f"the operator {analysis.name}: one array is given for {names}, of which one is written",
                    hint="give launch.copy(...) of it for the other one",
                )
            yield use
        others.append(use)


def jvp(analysis: Analysis, given: Sequence[bool]) -> Draft:
    """Operands: the inputs, and the tangents of those `given` one. Results: the outputs, then their tangents."""
    draft, plan = Draft(analysis), analysis.plan
    tangents = {number: draft.operand(number) for number, there in enumerate(given) if there}
    for number in plan.outputs:
        draft.content[number] = draft.result(number)
    differentiable = [number for number in plan.outputs if draft.spec(number).differentiable]
    for number in differentiable:
        draft.shadow[number] = draft.result(number)
    draft.close()
    for number, buffer in tangents.items():  # Enzyme takes a shadow that lies where its primal does for no derivative
        draft.shadow[number] = draft.operand(number)
        draft.copy(draft.shadow[number], buffer)
    for number in differentiable:
        draft.zero(draft.shadow[number])
    active = {number for number, there in enumerate(given) if there}
    for move in analysis.moves:
        _forwards(draft, move, active)
    return draft


def _forwards(draft: Draft, move: Move, active: set[int]) -> None:
    if isinstance(move, PlannedLaunch):
        uses = draft.analysis.uses(move, forward=True)
        if any(use.reads and use.number in active for use in uses):
            unit = draft.analysis.units(move.name, ())
            _check_run_twice(draft, move, uses)
            shadows = draft.shadows(unit, uses, forward=True)
            for use in _once_more(draft.analysis, uses, active):
                copied = draft.operand(use.number)
                draft.copy(copied, draft.shadow[use.number])
                shadows[use.parameter.name] = draft.stand_in(copied, use.number)
            question = GradientQuery(unit, move, draft.values(unit, move), shadows, {})
            result = draft.shadow.get(move.result, -1)
            draft.program.ops.append(operation(question, "forward", draft.stand_ins, result))
            if move.result >= 0:  # of which forward mode returns the tangent alone
                draft.primal(move)
                active.add(move.result)
            active |= {use.number for use in uses if use.writes and use.shadowed}
            return
    draft.primal(move)
    if isinstance(move, Copying) and move.source in active:
        if move.target not in draft.shadow:
            draft.shadow[move.target] = draft.operand(move.target)
        draft.copy(draft.shadow[move.target], draft.shadow[move.source])
        active.add(move.target)
    elif isinstance(move, Filling) and move.target in active:
        draft.zero(draft.shadow[move.target])


def _check_run_twice(draft: Draft, move: PlannedLaunch, uses: Iterable[Use]) -> None:
    if move.result >= 0 and any(use.writes and use.reads for use in uses):
        raise RefusedError(
            f"the operator {draft.analysis.name}: forward mode of a function that returns a number and changes "
            "an array",
            hint="let the function write the number to an array",
        )


def second(analysis: Analysis, wrt: Sequence[bool], given: Sequence[bool], along: Sequence[bool]) -> Draft:
    """The derivative of `vjp(wrt, given)` along tangents of those `wrt` inputs that are `along`.

    Operands: the inputs, the cotangents, the tangents. Results: that of each `wrt` input's derivative, which by the
    symmetry of second derivatives is also the derivative with respect to it of the tangents' product with the
    gradient; then the tangent of each output that is `given` a cotangent.
    """
    steps = [move for move in analysis.moves if isinstance(move, PlannedLaunch)]
    copied = {move.source: move.target for move in analysis.moves if isinstance(move, Copying)}
    used = {number for step in steps for number in analysis.touched(step)}
    if len(steps) != 1 or used & set(copied) or not used.issuperset(analysis.plan.outputs):
        raise RefusedError(
            f"the operator {analysis.name} has no second derivative: it does more than one launch",
            hint="make an operator of each launch: PyTorch and JAX put them together",
        )
    draft, plan, step = Draft(analysis), analysis.plan, steps[0]
    cotangents = {n: draft.operand(n) for n, there in zip(plan.outputs, given, strict=True) if there}
    wanted = [number for number, asked in enumerate(wrt) if asked]
    tangents = {number: draft.operand(number) for number in wanted if along[number]}
    curved = {copied.get(number, number): draft.result(number) for number in wanted}
    moved = {number: draft.result(number) for number in cotangents}
    draft.close()
    for move in analysis.moves:
        if not isinstance(move, PlannedLaunch):
            draft.primal(move)
    unit = analysis.units(step.name, ())
    uses = [use for use in analysis.uses(step, forward=True) if use.shadowed]
    for number, buffer in cotangents.items():
        draft.shadow[number] = draft.operand(number)
        draft.copy(draft.shadow[number], buffer)
    for number in wanted:
        if copied.get(number, number) not in used:
            draft.zero(curved[copied.get(number, number)])
    seeds = _second_seeds(draft, unit, uses, (tangents, copied, curved, moved))
    shadows = draft.shadows(unit, [use for use in uses if use.parameter.name in unit.signature])
    last = draft.stand_in(draft.shadow[step.result], step.result) if step.result >= 0 else None
    question = GradientQuery(unit, step, draft.values(unit, step), shadows, seeds, last)
    if step.result in moved:  # reverse mode does not compute the number, and so not its tangent
        _check_run_twice(draft, step, uses)
        carried = {name: seed for name, seed in seeds.items() if name in unit.signature}
        tangent = GradientQuery(unit, step, question.values, carried, {})
        draft.program.ops.append(operation(tangent, "forward", draft.stand_ins, moved[step.result]))
    draft.program.ops.append(operation(question, "second", draft.stand_ins))
    return draft


Found = tuple[Mapping[int, int], Mapping[int, int], Mapping[int, int], Mapping[int, int]]


def _second_seeds(draft: Draft, unit: Unit, uses: Iterable[Use], found: Found) -> dict[str, StandIn]:
    """The tangents of the primal's arguments, and of its shadows."""
    tangents, copied, curved, moved = found
    source = {target: origin for origin, target in copied.items()}
    seeds: dict[str, StandIn] = {}

    def zeros(number: int, buffer: int | None) -> StandIn:
        made = draft.operand(number) if buffer is None else buffer
        draft.zero(made)
        return draft.stand_in(made, number)

    for use in uses:
        number, name = use.number, use.parameter.name
        origin = source.get(number, number)
        seeds[name] = zeros(number, moved.get(number))
        if origin in tangents:
            draft.copy(draft.stand_ins.of(seeds[name].buffer, draft.spec(number)).buffer, tangents[origin])
        if name in unit.signature and unit.signature[name].has_shadow:
            seeds[f"shadow of {name}"] = zeros(number, curved.get(number))
    twice = unit.signature.gradient.forward
    for parameter in twice.shadowed:
        if parameter.form == "scalar" and parameter.name not in seeds:
            spec = Spec((), parameter.dtype.name)
            buffer = draft.program.buffer(spec.nbytes)
            draft.zero(buffer)
            seeds[parameter.name] = draft.stand_ins.of(buffer, spec)
    return seeds
