"""Enzyme: the prepared module becomes one with gradients. An entry that cannot be done does not take others with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from enzyme_driver import pipelines
from enzyme_driver.command import ENDLESS, Completed
from enzyme_driver.errors import AdgenError, CompilerCrashError, Location, RefusedError
from enzyme_driver.model import Mode, Signature
from enzyme_driver.stages import enzyme_messages
from enzyme_driver.stages.plan import SWEEPS, Derivatives, Plan, Unit, derivatives
from enzyme_driver.stages.prepare import PreparedModule, refusals
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import EnzymeSource

PLUGIN_PASSES = "enzyme"

FEWEST, ALL = "-enzyme-mincut-cache=1", "-enzyme-mincut-cache=0"
"""Whether Enzyme looks for the fewest values to keep. It was seen to get that wrong where memory decides how often
a loop runs (in loops that sort), so there it comes second: without it, Enzyme stops at
intrinsics that are hidden from it.
"""
AS_STORED = "-enzyme-rematerialize=0"
"""Reads of local arrays are kept. Else Enzyme fills the arrays again in the reverse sweep. Where that is a function of
its own, what loops compute from them was seen to be computed before they were filled: a wrong gradient without a word.
In nests of loops that are left early, what fills them again was seen to be no valid code.
"""
EACH_TIME = "-enzyme-loop-invariant-cache=0"
"""What stays the same in a loop is kept in each of its iterations. Where a loop runs until the data says so, Enzyme was
seen to keep what changes between two loops once: a wrong gradient without a word.
"""
EVERY_ITERATION = "-enzyme-inactive-dynamic=0"
"""Loops without a derivative that end by the data are walked back as often as they ran. Else they are walked back once,
and what loops inside of them have kept is given back of the first iteration alone, in which there may be nothing: the
memory of others was then seen to be freed.
"""
ONE_ITERATION = "what a loop kept in one iteration alone"
"""In the reason of adgen-verify-gradients for that."""
NO_LOADS_MOVED = "-enable-load-pre=0"
"""Enzyme says by `!invariant.group` that what it reads again in the reverse sweep is what the forward sweep has read.
GVN, which it runs afterwards, moves such loads to where the ways before them come from, and copies the claim, which is
wrong there: one way's load was seen to be taken for another's, where the memory had changed in between.
"""
SHALLOW = "-enzyme-max-type-depth=2"
"""Enzyme says of memory what is behind the pointers in it, and behind those. Of records that lead to others of their
kind, as the nodes of a std::map do, it writes down every way of six steps, and does not end.
"""
LESS_DEEP = "-enzyme-max-type-depth=3"
"""The same of objects with virtual functions, which may be of several classes: a network of layers took 346 s with six
steps, and takes 11 with three. What is not seen then is asked for again with all.
"""
TABLE = b"@_ZTV"
"""How tables of virtual functions are named."""
QUEUE = b"std::_Deque_base"
"""How what a std::deque, queue or stack has is named: of the table of its pieces, Enzyme writes down every way of three
steps for every element that an iterator may stand at, and does not end either.
"""
APART = "-enzyme-strict-aliasing=0"
"""What one way through the code does with memory says nothing about it elsewhere. Else memory that is asked there what
it is, as an object is that may be of several derived classes, would have to be all of it at once.
"""
LOADS_KEPT = "-enable-gvn-memdep=0"
"""GVN replaces no load. Where local arrays are written under many conditions, its analysis of dependences in memory was
seen to name stores that it had deleted itself: it crashed.
"""
HIDDEN = "adgen_hidden_"
FEW = 4
"""Units of which each is tried alone rather than in halves."""
BODY = "adgen_body_"
ASKED: Mapping[Mode, str] = {"reverse": f"__enzyme_autodiff_{BODY}", "forward": f"__enzyme_fwddiff_{BODY}"}
"""What the functions by which a derivative is asked of Enzyme are called, before the entry's symbol."""


class Prepare(Protocol):
    """Prepares the module that asks for these derivatives; the other entries are in it, unless they stand `alone`."""

    def __call__(self, wanted: Derivatives, *, alone: bool = False) -> PreparedModule: ...


@dataclass(frozen=True)
class GradientIR:
    """The module after Enzyme. `refused` says why an entry has no gradient, `refused_forward` why no tangents,
    `refused_second` why no second derivatives.
    """

    path: Path
    prepared: PreparedModule
    refused: Mapping[str, AdgenError]
    refused_forward: Mapping[str, AdgenError] = field(default_factory=dict)
    refused_second: Mapping[str, AdgenError] = field(default_factory=dict)


@dataclass(frozen=True)
class EnzymeRun:
    """A run of Enzyme on a module, for all that is asked for there or for these units only."""

    source: Path
    only: tuple[Unit, ...] = ()
    options: tuple[str, ...] = ()


def differentiate(plan: Plan, modes: Sequence[Mode], prepare: Prepare, workspace: Workspace) -> GradientIR:
    """The derivatives of all entries that have something to differentiate, but for those that are refused."""
    wanted = derivatives(plan, modes)
    prepared = prepare(wanted)
    refused: dict[Unit, AdgenError] = {
        (mode, symbol): reason for mode in SWEEPS for symbol, reason in prepared.refused.items()
    }
    refused |= {("forward", symbol): reason for symbol, reason in prepared.refused_forward.items()}
    wanted = _without(wanted, refused)
    if refused:
        prepared = prepare(wanted)
    while found := _problems(prepared, wanted, prepare, workspace):
        refused |= found
        wanted = _without(wanted, refused)
        prepared = prepare(wanted)
    reverse, forward = ({symbol: refused[each, symbol] for each, symbol in refused if each == mode} for mode in SWEEPS)
    return GradientIR(_output(prepared), prepared, reverse, forward)


def _without(wanted: Derivatives, refused: Collection[Unit]) -> Derivatives:
    return wanted.only(unit for unit in wanted.units if unit not in refused)


def _problems(
    prepared: PreparedModule, wanted: Derivatives, prepare: Prepare, workspace: Workspace
) -> Mapping[Unit, AdgenError]:
    """Which units cannot be done, once Enzyme has run on all of them; none of them is to be asked for again."""
    failure = _attempt(prepared, wanted.entries, workspace, once=True)
    if failure is not None:
        found = _named_culprits(prepared, wanted, failure, prepare, workspace)
        if found:
            return found
        failure = _attempt_otherwise(prepared, wanted.entries, workspace, failure)
    if failure is None:
        return _wrong(prepared, wanted, workspace)
    if not wanted.units:
        raise failure
    found = _culprits(prepared, wanted, failure, prepare, workspace)
    return found or _one_by_one(prepare(wanted), wanted, workspace)


def _named_culprits(
    prepared: PreparedModule, wanted: Derivatives, failure: AdgenError, prepare: Prepare, workspace: Workspace
) -> dict[Unit, AdgenError]:
    """The units that fail on their own, of those in whose bodies Enzyme says that the failure is. Else all would be
    tried in other ways, and by halves.
    """
    named = enzyme_messages.functions(failure.log)
    suspects = [unit for unit in wanted.units if BODY + unit[1] in named]
    if len(suspects) == len(wanted.units):
        return {}
    tried = {unit: _attempt_alone(prepared, wanted.only([unit]), prepare, workspace) for unit in suspects}
    return {unit: reason for unit, reason in tried.items() if reason is not None}


def _wrong(prepared: PreparedModule, wanted: Derivatives, workspace: Workspace) -> Mapping[Unit, AdgenError]:
    """What `_unverified` says, once Enzyme has been asked to walk back every iteration where it had to be."""
    found = _unverified(prepared, wanted, workspace)
    if any(ONE_ITERATION in reason.reason for reason in found.values()):
        step = EnzymeRun(prepared.path, options=(EVERY_ITERATION,))
        if _attempt(prepared, wanted.entries, workspace, step) is None:
            return _unverified(prepared, wanted, workspace)
    return found


def _unverified(prepared: PreparedModule, wanted: Derivatives, workspace: Workspace) -> Mapping[Unit, AdgenError]:
    """The gradients that Enzyme has made wrongly, as far as that can be seen."""
    if not wanted.gradients.entries:
        return {}
    done = workspace.opt(pipelines.VERIFY, _output(prepared), None)
    return {("reverse", symbol): reason for symbol, reason in refusals(done.stderr).items()}


def _culprits(
    prepared: PreparedModule, wanted: Derivatives, failure: AdgenError, prepare: Prepare, workspace: Workspace
) -> dict[Unit, AdgenError]:
    """Which units fail on their own, of those that fail together: found by halves, or one by one where they are few, or
    where Enzyme does not end, and each attempt takes all its time.
    """
    units = wanted.units
    if len(units) == 1:
        return {units[0]: failure}
    size = 1 if ENDLESS in failure.reason or len(units) <= FEW else (len(units) + 1) // 2
    refused: dict[Unit, AdgenError] = {}
    for start in range(0, len(units), size):
        part = wanted.only(units[start : start + size])
        reason = _attempt_alone(prepared, part, prepare, workspace)
        if reason is not None:
            refused |= _culprits(prepared, part, reason, prepare, workspace)
    return refused


def _attempt_alone(
    prepared: PreparedModule, part: Derivatives, prepare: Prepare, workspace: Workspace
) -> AdgenError | None:
    """Why Enzyme does not manage these units, of those that a module was prepared for; several are tried once.

    A plugin does all that a module asks for: there the others must not be in it.
    """
    once = len(part.units) > 1
    if workspace.toolchain.enzyme.kind == "plugin":
        return _attempt(prepare(part, alone=True), part.entries, workspace, once=once)
    return _attempt(prepared, part.entries, workspace, EnzymeRun(prepared.path, part.units), once=once)


def _one_by_one(prepared: PreparedModule, wanted: Derivatives, workspace: Workspace) -> Mapping[Unit, AdgenError]:
    """One unit after another, where none fails alone: Enzyme was seen to stop where two of them read one variable.

    It writes such reads by constant expressions, which are there once for all functions; they are taken apart before
    the next step. If that fails too, all are refused.
    """
    done = prepared.path.with_suffix("").with_suffix(".done.ll")
    source = prepared.path
    for unit in wanted.units:
        failure = _attempt(prepared, wanted.entries, workspace, EnzymeRun(source, (unit,)))
        if failure is not None:
            return dict.fromkeys(wanted.units, failure)
        workspace.opt(pipelines.BETWEEN_STEPS, _output(prepared), done)
        source = done
    done.rename(_output(prepared))
    return _unverified(prepared, wanted, workspace)


def _output(prepared: PreparedModule) -> Path:
    return prepared.path.with_suffix("").with_suffix(".gradient.ll")


def _attempt(
    prepared: PreparedModule,
    entries: Sequence[Signature],
    workspace: Workspace,
    step: EnzymeRun | None = None,
    *,
    once: bool = False,
) -> AdgenError | None:
    """Run Enzyme, on the whole module where no step is given; the reason if it does not manage, the first if `once`."""
    step = step or EnzymeRun(prepared.path)
    failure = _tried(prepared, entries, workspace, step, [*_arrays(prepared), *_depth(prepared)])
    return failure if failure is None or once else _attempt_otherwise(prepared, entries, workspace, failure, step)


def _attempt_otherwise(
    prepared: PreparedModule,
    entries: Sequence[Signature],
    workspace: Workspace,
    failure: AdgenError,
    step: EnzymeRun | None = None,
) -> AdgenError | None:
    """Run Enzyme as it may manage after this failure; the reason if it does not."""
    step, arrays = step or EnzymeRun(prepared.path), _arrays(prepared)
    if _depth(prepared):
        without = _tried(prepared, entries, workspace, step, arrays)
        if without is None:
            return None
        if ENDLESS not in failure.reason and ENDLESS in without.reason:
            return failure
        failure = without
    if ENDLESS in failure.reason:
        return _tried(prepared, entries, workspace, step, [*arrays, SHALLOW])
    if enzyme_messages.MIXED in failure.reason:
        return _tried(prepared, entries, workspace, step, [*arrays, APART])
    if "SIGSEGV" in failure.reason:
        return _tried(prepared, entries, workspace, step, [*arrays, LOADS_KEPT])
    if prepared.split or enzyme_messages.INVALID not in failure.reason:
        return failure
    return _tried(prepared, entries, workspace, step, [AS_STORED])


def _arrays(prepared: PreparedModule) -> list[str]:
    return [AS_STORED] if prepared.split else []


def _depth(prepared: PreparedModule) -> list[str]:
    text = prepared.path.read_bytes()
    return [SHALLOW] if QUEUE in text else [LESS_DEEP] if TABLE in text else []


def _tried(
    prepared: PreparedModule, entries: Sequence[Signature], workspace: Workspace, step: EnzymeRun, arrays: Sequence[str]
) -> AdgenError | None:
    """`arrays` is what is asked of local arrays, and perhaps of types."""
    output = _output(prepared)
    output.unlink(missing_ok=True)
    enzyme = workspace.toolchain.enzyme
    try:
        for cut in _cuts(prepared, workspace):
            options = (cut, NO_LOADS_MOVED, *step.options, *arrays, *([] if prepared.counted else [EACH_TIME]))
            argv = _argv(enzyme, step.source, output, options, workspace)
            done = workspace.execute("enzyme", argv, env=_environment(enzyme, step, output))
            if done.ok and output.exists():
                return None
            if HIDDEN not in done.stderr:
                break
    except CompilerCrashError as crash:
        return _crashed(crash, entries)
    return _failed(done, entries, workspace)


def _cuts(prepared: PreparedModule, workspace: Workspace) -> tuple[str, str]:
    """What to try, in order."""
    fewest = prepared.fewest and workspace.does("fewest-kept")
    return (FEWEST, ALL) if fewest else (ALL, FEWEST)


def _argv(
    enzyme: EnzymeSource, source: Path, output: Path, options: Sequence[str], workspace: Workspace
) -> list[str | Path]:
    """The wheel's executable loads our worker while it starts; a plugin is loaded into the opt it was built for."""
    if enzyme.kind == "plugin":
        opt = enzyme.opt.path if enzyme.opt else workspace.toolchain.opt.path
        flags = (f"-load-pass-plugin={enzyme.path}", *options, f"-passes={PLUGIN_PASSES}")
        return [opt, *flags, "-S", source, "-o", output]
    dummy = workspace.file("empty.mlir")
    dummy.write_text("module {}\n", encoding="utf-8")
    return [enzyme.path, *options, dummy, f"--load-pass-plugin={workspace.toolchain.worker}"]


def _environment(enzyme: EnzymeSource, step: EnzymeRun, output: Path) -> dict[str, str] | None:
    if enzyme.kind == "plugin":
        return None
    names = ",".join(ASKED[mode] + symbol for mode, symbol in step.only)
    only = {"ADGEN_WORKER_ONLY": names} if names else {}
    return {"ADGEN_WORKER_INPUT": str(step.source), "ADGEN_WORKER_OUTPUT": str(output), **only}


def _crashed(crash: CompilerCrashError, entries: Sequence[Signature]) -> CompilerCrashError | RefusedError:
    if enzyme_messages.is_known(crash.reason):
        message = enzyme_messages.translate_crash(crash.reason, crash.log)
        return RefusedError(message.reason, hint=message.hint, location=_place(entries), log=crash.log)
    names = ", ".join(entry.name for entry in entries)
    return CompilerCrashError(
        f"Enzyme could not differentiate {names}: {crash.reason}",
        hint=crash.hint,
        location=_place(entries),
        log=crash.log,
    )


def _place(entries: Sequence[Signature]) -> Location | None:
    return Location(entries[0].file, entries[0].line) if entries else None


def _users_place(found: Location | None, entries: Sequence[Signature], workspace: Workspace) -> Location | None:
    """A place in the user's own code; headers of clang and CUDA tell nobody what to change.

    Enzyme leaves the folder out where clang keeps it apart from the file's name.
    """
    whole = [entry.file for entry in entries if found and entry.file.endswith(f"/{found.file}")]
    if found and whole:
        return Location(whole[0], found.line, found.column)
    return found if found and not workspace.toolchain.is_of_library(Path(found.file)) else None


def _failed(done: Completed, entries: Sequence[Signature], workspace: Workspace) -> RefusedError:
    message = enzyme_messages.translate(done.stderr)
    return RefusedError(
        message.reason,
        hint=message.hint,
        location=_users_place(message.location, entries, workspace) or _place(entries),
        log=workspace.keep("enzyme", done),
    )
