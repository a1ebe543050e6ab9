"""Enzyme: the prepared module becomes one with gradients. An entry that cannot be done does not take others with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.command import Completed
from enzyme_driver.errors import AdgenError, CompilerCrashError, Location, RefusedError
from enzyme_driver.model import Signature
from enzyme_driver.stages import enzyme_messages
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.prepare import Prepared, unless_disabled
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
"""
HIDDEN = "adgen_hidden_"

Prepare = Callable[[Plan], Prepared]
"""Prepares the module with the gradients of these entries."""


@dataclass(frozen=True)
class GradientIR:
    """The module after Enzyme. `refused` says why an entry has no gradient."""

    path: Path
    prepared: Prepared
    refused: Mapping[str, AdgenError]


def differentiate(plan: Plan, prepare: Prepare, workspace: Workspace) -> GradientIR:
    """The gradients of all entries that have something to differentiate, but for those that are refused."""
    wanted = plan.only(entry.symbol for entry in plan.entries if entry.shadowed)
    prepared = prepare(wanted)
    refused: dict[str, AdgenError] = dict(prepared.refused)
    wanted = wanted.only(entry.symbol for entry in wanted.entries if entry.symbol not in refused)
    if refused:
        prepared = prepare(wanted)
    failure = _attempt(prepared, wanted.entries, workspace)
    if failure is not None:
        refused |= _culprits(wanted, failure, prepare, workspace)
        wanted = wanted.only(entry.symbol for entry in wanted.entries if entry.symbol not in refused)
        prepared = prepare(wanted)
        failure = _attempt(prepared, wanted.entries, workspace)
    if failure is not None:
        raise failure
    return GradientIR(_output(prepared), prepared, refused)


def _culprits(wanted: Plan, failure: AdgenError, prepare: Prepare, workspace: Workspace) -> dict[str, AdgenError]:
    """Which entries fail on their own. If none does, they fail together, and all are refused."""
    if len(wanted.entries) == 1:
        return {wanted.entries[0].symbol: failure}
    refused = {}
    for entry in wanted.entries:
        alone = wanted.only([entry.symbol])
        reason = _attempt(prepare(alone), alone.entries, workspace)
        if reason is not None:
            refused[entry.symbol] = reason
    return refused or {entry.symbol: failure for entry in wanted.entries}


def _output(prepared: Prepared) -> Path:
    return prepared.path.with_suffix("").with_suffix(".gradient.ll")


def _attempt(prepared: Prepared, entries: Sequence[Signature], workspace: Workspace) -> AdgenError | None:
    """Run Enzyme; the reason if it does not manage."""
    output = _output(prepared)
    output.unlink(missing_ok=True)
    enzyme = workspace.toolchain.enzyme
    try:
        for cut in _cuts(prepared, workspace):
            options = (cut, AS_STORED) if prepared.split else (cut,)
            argv = _argv(enzyme, prepared, output, options, workspace)
            done = workspace.execute("enzyme", argv, env=_environment(enzyme, prepared.path, output))
            if done.ok and output.exists():
                return None
            if HIDDEN not in done.stderr:
                break
    except CompilerCrashError as crash:
        return _crashed(crash, entries)
    return _failed(done, entries, workspace)


def _cuts(prepared: Prepared, workspace: Workspace) -> tuple[str, str]:
    """What to try, in order."""
    fewest = prepared.counted and unless_disabled("fewest-kept", FEWEST, workspace)
    return (FEWEST, ALL) if fewest else (ALL, FEWEST)


def _argv(
    enzyme: EnzymeSource, prepared: Prepared, output: Path, options: Sequence[str], workspace: Workspace
) -> list[str | Path]:
    """The wheel's executable loads our worker while it starts; a plugin is loaded into the opt it was built for."""
    if enzyme.kind == "plugin":
        opt = enzyme.opt.path if enzyme.opt else workspace.toolchain.opt.path
        flags = (f"-load-pass-plugin={enzyme.path}", *options, f"-passes={PLUGIN_PASSES}")
        return [opt, *flags, "-S", prepared.path, "-o", output]
    dummy = workspace.file("empty.mlir")
    dummy.write_text("module {}\n", encoding="utf-8")
    return [enzyme.path, *options, dummy, f"--load-pass-plugin={workspace.toolchain.worker}"]


def _environment(enzyme: EnzymeSource, source: Path, output: Path) -> dict[str, str] | None:
    if enzyme.kind == "plugin":
        return None
    return {"ADGEN_WORKER_INPUT": str(source), "ADGEN_WORKER_OUTPUT": str(output)}


def _crashed(crash: CompilerCrashError, entries: Sequence[Signature]) -> CompilerCrashError:
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
    tools = workspace.toolchain
    whole = [entry.file for entry in entries if found and entry.file.endswith(f"/{found.file}")]
    if found and whole:
        return Location(whole[0], found.line, found.column)
    libraries = (tools.clang.prefix, tools.cuda_root, Path("/usr/include"), Path("/usr/lib"))
    return found if found and not any(Path(found.file).is_relative_to(folder) for folder in libraries) else None


def _failed(done: Completed, entries: Sequence[Signature], workspace: Workspace) -> RefusedError:
    message = enzyme_messages.translate(done.stderr)
    return RefusedError(
        message.reason,
        hint=message.hint,
        location=_users_place(message.location, entries, workspace) or _place(entries),
        log=workspace.keep("enzyme", done),
    )
