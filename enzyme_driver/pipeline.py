"""The whole way of a file, on one page: source, IR, signature, plan, gradient, binaries, artifact."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import cast

from enzyme_driver import artifact, processor, toolchain
from enzyme_driver.artifact import Artifact, Contents
from enzyme_driver.command import ENDLESS
from enzyme_driver.errors import (
    AdgenError,
    CacheError,
    CompilerCrashError,
    Location,
    RefusedError,
    SourceError,
    UsageError,
)
from enzyme_driver.model import Activity, Entry, Place, Signature, Target, TargetEntry, bare_name
from enzyme_driver.request import Request
from enzyme_driver.scratch import scratch_folder
from enzyme_driver.settings import Settings
from enzyme_driver.stages import differentiate, frontend, plan, prepare, render, second, signature, source, witness
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.inspection import Inspection
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.refused import as_refusal
from enzyme_driver.stages.running import Running
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import amdgpu, cuda, openmp
from enzyme_driver.targets import witness as witnesses
from enzyme_driver.targets.cuda import CudaCode
from enzyme_driver.targets.openmp import HostCode
from enzyme_driver.version import __version__

Progress = Callable[[str], None]

STAGES = ("primal", "prepared", "gradient", "cuda", "openmp", "ptx", *amdgpu.ARCHS)
"""The texts that `emit` can show, in the order in which they are made; those of AMD GPUs are assembly."""


@dataclass(frozen=True)
class Differentiated:
    """One architecture's way up to Enzyme."""

    primal: PrimalIR
    plan: Plan
    gradient: GradientIR


Described = tuple[PrimalIR, signature.Description]
Made = tuple[Differentiated, HostCode | None, list[CudaCode]]
"""Of the first architecture, and the code of the host and of the GPUs."""


def build(
    request: Request,
    folder: Path,
    *,
    settings: Settings,
    progress: Progress | None = None,
    inspection: Inspection | None = None,
) -> Artifact:
    """Compile the request into the artifact `folder`, which appears complete or not at all."""
    say = progress or (lambda _: None)
    with _workspace(settings, inspection, say) as workspace:
        read = _checked_source(request)
        for arch in request.archs:
            toolchain.check_arch(arch, workspace.toolchain)
        first, host, device = _made(request, read, workspace, say)
        _refuse_if_nothing_is_left(request, first, host, device)
        return artifact.write(folder, _contents(request, read, first, host, device, workspace.toolchain.ptxas.version))


def _made(request: Request, read: Source, workspace: Workspace, say: Progress) -> Made:
    """All that is compiled. Where a tool crashes over some of a file's entries, these are refused, the others made."""
    described = cache(partial(_described, request, read, workspace))
    compiled = partial(_compiled, request, read, workspace, described)
    plans: list[Plan] = []

    def noted(chosen: Plan) -> Plan:
        plans.append(chosen)
        return chosen

    try:
        return compiled(say, noted)
    except CompilerCrashError as crash:
        symbols = [entry.symbol for entry in plans[-1].entries] if plans else []
        if request.names or len(symbols) < 2 or ENDLESS in crash.reason:  # noqa: PLR2004  (others than the one at fault)
            raise
        say("a tool has crashed: kernels and functions are tried one by one")
        found = {symbol: ended for symbol in symbols if (ended := _crash_of(compiled, symbol))}
        if len(found) in {0, len(symbols)}:
            raise
    return compiled(say, lambda chosen: chosen.without(found))


def _crash_of(compiled: Callable[[Progress, Callable[[Plan], Plan]], Made], symbol: str) -> CompilerCrashError | None:
    """With which a tool ends over this entry alone."""
    with suppress(RefusedError):
        try:
            compiled(lambda _: None, lambda chosen: chosen.only([symbol]))
        except CompilerCrashError as crash:
            return crash
    return None


def _compiled(
    request: Request,
    read: Source,
    workspace: Workspace,
    described: Callable[[str], Described],
    say: Progress,
    narrowed: Callable[[Plan], Plan],
) -> Made:
    ways = {
        arch: _to_gradient(request, read, described(arch), workspace, say, narrowed) for arch in _archs(request, read)
    }
    return next(iter(ways.values())), *_finish(request, read, ways, workspace)


def inspected(request: Request, inspection: Inspection, *, settings: Settings, progress: Progress | None) -> None:
    """Compile the request for what `inspection` collects, and keep nothing."""
    with scratch_folder() as folder:
        build(request, folder / "artifact", settings=settings, progress=progress, inspection=inspection)


def emit(request: Request, stage: str, *, settings: Settings) -> str:
    """The text of one stage (see STAGES), for the first architecture asked for."""
    if stage not in STAGES:
        raise UsageError(f"there is no stage {stage!r}", hint=f"the stages are {', '.join(STAGES)}")
    with _workspace(settings) as workspace:
        read = _checked_source(request)
        if read.language == "c++" and stage in {"cuda", "ptx", *amdgpu.ARCHS}:
            raise UsageError(f"{read.path.name} is C++, which has no stage {stage!r}", hint="show openmp instead")
        described = _described(request, read, workspace, request.archs[0])
        way = _to_gradient(request, read, described, workspace, lambda _: None)
        return _text(stage, request, read, way, workspace).read_text(encoding="utf-8")


def _text(stage: str, request: Request, read: Source, way: Differentiated, workspace: Workspace) -> Path:
    if stage in amdgpu.ARCHS:
        module = cuda.module(way.gradient, request.archs[0], workspace, fast_math=request.fast_math)
        return amdgpu.assembly(module, stage, workspace)
    if stage in {"cuda", "ptx"}:
        made = cuda.finish(way.gradient, way.plan, request.archs[0], workspace, fast_math=request.fast_math)
        return made.ir if stage == "cuda" else made.ptx
    if stage == "openmp":
        return _finish_host(request, read, way, workspace).ir
    texts = {"primal": way.primal.path, "prepared": way.gradient.prepared.path, "gradient": way.gradient.path}
    return texts[stage]


@contextmanager
def _workspace(
    settings: Settings, inspection: Inspection | None = None, say: Progress = lambda _: None
) -> Iterator[Workspace]:
    """A scratch folder; its files are copied to ADGEN_KEEP where that is set, also after a failure."""
    tools = toolchain.ensure(settings)
    _check_kept(settings.keep)
    with scratch_folder() as folder:
        workspace = Workspace(folder, tools, settings, inspection=inspection, running=Running(say))
        try:
            yield workspace
        finally:
            if settings.keep is not None:
                shutil.copytree(folder, settings.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))


def _check_kept(folder: Path | None) -> None:
    """Find out before the work is done that its files cannot be kept."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        reason = f"{folder} cannot be written: {problem.strerror}"
        raise CacheError(reason, hint="set ADGEN_KEEP to a folder that can be written, or unset it") from None


def _checked_source(request: Request) -> Source:
    read = source.read(request)
    if read.language == "c++" and "cuda" in request.targets:
        raise UsageError(f"{read.path.name} is C++, which has no cuda target", hint="compile it with target openmp")
    return read


def _archs(request: Request, read: Source) -> tuple[str, ...]:
    """The host needs only one way, that of the first architecture."""
    return request.archs if "cuda" in request.targets and read.language == "cuda" else request.archs[:1]


def _to_gradient(
    request: Request,
    read: Source,
    described: Described,
    workspace: Workspace,
    say: Progress,
    narrowed: Callable[[Plan], Plan] = lambda chosen: chosen,
) -> Differentiated:
    primal, description = described
    if primal.left_out:
        say(f"{primal.left_out} places in host code are left out, which clang cannot read")
    if not (description.offered or request.names):
        absent = primal.parsed.absent if primal.parsed else ()
        raise plan.nothing(str(read.path), frontend.templates_read(read, primal, workspace), absent)
    chosen = plan.make(description, request.names, _activities(request), str(read.path))
    if not request.names:
        made = {bare_name(entry.name) for entry in description.entries}
        kernels = [(each.name, each.error) for each in primal.unread if each.kernel and each.name not in made]
        unmade = plan.unmade(description, frontend.templates(read), kernels, str(read.path))
        unread = (plan.unread(*each) for each in (*kernels, *unmade))
        chosen = replace(chosen, refused=(*chosen.refused, *unread))
    chosen = narrowed(chosen)
    if request.witness:
        carried = witness.carry(
            request.witness,
            primal,
            chosen,
            workspace,
            fast_math=request.fast_math,
            user_rules=request.user_rules,
            host=request.targets == ("openmp",),
        )
        return Differentiated(primal, chosen, carried)
    gradient = _differentiated(request, primal, chosen, workspace)
    resized = plan.with_resized(chosen, partial(_changes_struct, gradient))
    if resized != chosen:
        chosen = resized
        gradient = _differentiated(request, primal, chosen, workspace)
    if "second" in request.modes:
        fast_math = request.fast_math
        gradient = second.differentiate_twice(gradient, chosen, read.language, workspace, fast_math=fast_math)
    if request.names and not request.primal_suffices:
        for refusal in _refused_in_all_modes(request, gradient).values():
            raise refusal
    return Differentiated(primal, _without_losses(_with_usage(chosen, gradient), request), gradient)


def _differentiated(request: Request, primal: PrimalIR, chosen: Plan, workspace: Workspace) -> GradientIR:
    preparing = partial(
        prepare.prepare,
        primal,
        chosen,
        workspace=workspace,
        fast_math=request.fast_math,
        user_rules=request.user_rules,
        chosen=[name for name, _ in request.activity],
    )
    return differentiate.differentiate(chosen, request.modes, preparing, workspace)


def _changes_struct(gradient: GradientIR, entry: Signature, number: int) -> bool:
    """Whether the function stores to the struct that the parameter of that number is, or stands for."""
    used = gradient.prepared.usage[entry.symbol]
    return number < len(used) and used[number].writes


def _refused_in_all_modes(request: Request, gradient: GradientIR) -> dict[str, AdgenError]:
    """Why entries, by symbol, have no derivative at all."""
    forward = gradient.refused_forward if "forward" in request.modes else gradient.refused
    return {symbol: reason for symbol, reason in gradient.refused.items() if symbol in forward}


def _activities(request: Request) -> dict[str, Activity]:
    """The activities that were asked for; `request.new` has checked the words."""
    return {name: cast("Activity", word) for name, word in request.activity}


def _described(request: Request, read: Source, workspace: Workspace, arch: str) -> Described:
    """Compile; once more with what the file does not emit by itself, where such names are asked for."""
    compiled = partial(frontend.compile_source, workspace=workspace, arch=arch, fast_math=request.fast_math)
    primal = compiled(read)
    description = signature.describe(primal, read, workspace)
    kernels = [each for each in primal.unread if each.kernel]
    others = description.entries if request.names else description.offered  # not what libraries bring along
    if kernels and not others:
        raise kernels[0].error
    missing = plan.missing(description, request.names)
    _refuse_unread(primal, missing)
    if not missing:
        return primal, description
    templates = frontend.templates(read)
    try:
        primal = compiled(primal.source or read, instances=plan.qualified(missing, templates), parsed=primal.parsed)
    except SourceError as why:
        if frontend.is_in_device_code(read, why.location):
            raise
        name, file = missing[0], str(read.path)
        meant = [each for each in templates if bare_name(each) == bare_name(name)]
        if meant and "<" in name:
            raise plan.no_instance(name, meant[0], why, Location(file, templates[meant[0]])) from None
        raise plan.not_found(description, name, file, templates) from None
    described = signature.describe(primal, read, workspace, instances=plan.qualified(missing, templates))
    _refuse_unread(primal, plan.missing(described, missing))
    return primal, described


def _refuse_unread(primal: PrimalIR, missing: Sequence[str]) -> None:
    """Raise why clang does not read a kernel that is asked for; of a template it says so only of an instance."""
    wanted = {bare_name(name) for name in missing}
    for each in primal.unread:
        if each.name in wanted:
            raise each.error


def _with_usage(chosen: Plan, gradient: GradientIR) -> Plan:
    """The signatures with what the compiler saw of reading and writing."""

    def observed(entry: Signature) -> Signature:
        pairs = zip(entry.parameters, gradient.prepared.usage[entry.symbol], strict=False)
        names: dict[int | None, str] = dict(enumerate(entry.names))
        return replace(
            entry,
            parameters=tuple(
                replace(
                    p,
                    reads=a.reads and not p.is_result,
                    writes=a.writes,
                    nullable=a.nullable,
                    added_to=names.get(a.added_to, ""),
                    moves_pointers=a.moves_pointers,
                    beyond=a.beyond,
                    chosen=_ITSELF in a.chosen,
                    chosen_members=tuple(offset for offset in a.chosen if offset != _ITSELF),
                    unordered=_place(a.unordered),
                    queued=_place(a.queued),
                    orders=tuple(entry.names[number] for number in a.orders if number < len(entry.names)),
                )
                for p, a in pairs
            ),
        )

    return replace(chosen, entries=tuple(observed(entry) for entry in chosen.entries))


_ITSELF = -1  # where a parameter leads by itself, see ParameterUse


def _place(said: str) -> Place | None:
    line, _, file = said.partition(":")
    return Place(file, int(line)) if said else None


def _without_losses(chosen: Plan, request: Request) -> Plan:
    """The plan without entries whose effects Python would not see. Raises RefusedError where one was asked for."""
    refused = tuple((entry, reason) for entry in chosen.entries for reason in _losses(entry))
    lost = {entry.symbol for entry, _ in refused}
    kept = tuple(entry for entry in chosen.entries if entry.symbol not in lost)
    if refused and (request.names or not kept):
        raise refused[0][1]
    return replace(chosen, entries=kept, refused=(*chosen.refused, *refused))


def _losses(entry: Signature) -> list[RefusedError]:
    """Why the entry cannot be called from Python: for the first parameter alone."""
    moved = [
        RefusedError(
            f"{entry.name} stores pointers in the table {parameter.name!r}: Python would not see it",
            hint="move what the rows hold, or the numbers of rows in an array of indices",
            location=Location(entry.file, entry.line),
        )
        for parameter in entry
        if parameter.loses_rows
    ]
    several = [
        RefusedError(
            f"parameter {parameter.name!r} of {entry.name} is an array of structs that hold pointers, of which Python "
            "hands over one",
            hint="give the function one array for each member, and an index where structs differ",
            location=Location(entry.file, entry.line),
        )
        for parameter in entry
        if parameter.beyond
    ]
    lost = [parameter for parameter in entry if parameter.loses_members]
    return [*moved, *several] or [
        RefusedError(
            f"{entry.name} changes members of {parameter.name!r} itself, such as the size of a vector: Python would "
            "not see it",
            hint="change only what the members point to, or hand the number on by a parameter of its own",
            location=Location(entry.file, entry.line),
        )
        for parameter in lost[:1]
    ]


def _finish(
    request: Request, read: Source, ways: dict[str, Differentiated], workspace: Workspace
) -> tuple[HostCode | None, list[CudaCode]]:
    """Both targets at once: each waits for processes of its own."""
    first = next(iter(ways.values()))
    on_gpu = partial(cuda.finish, batched="batched" in request.modes)
    finish = witnesses.on_gpu if request.witness else on_gpu
    with ThreadPoolExecutor() as pool:
        host = pool.submit(_finish_host, request, read, first, workspace) if "openmp" in request.targets else None
        device = [
            pool.submit(finish, way.gradient, way.plan, arch, workspace, fast_math=request.fast_math)
            for arch, way in ways.items()
            if "cuda" in request.targets
        ]
        return host.result() if host else None, [job.result() for job in device]


def _finish_host(request: Request, read: Source, way: Differentiated, workspace: Workspace) -> HostCode:
    name = render.library_name(read.stem)
    if request.witness:
        return witnesses.on_host(way.gradient, way.plan, name, workspace, fast_math=request.fast_math)
    return openmp.finish(way.gradient, way.plan, read.language, name, workspace, fast_math=request.fast_math)


def _refuse_if_nothing_is_left(
    request: Request, way: Differentiated, host: HostCode | None, device: Sequence[CudaCode]
) -> None:
    """A refusal is an error where nothing else was asked for; else it is kept in the artifact."""
    refused = {} if request.witness else _refused_in_all_modes(request, way.gradient)
    if host and request.targets == ("openmp",):
        refused |= host.refused
    for code in device if request.targets == ("cuda",) else ():
        refused |= code.failed.primal if "forward" in request.modes else code.failed.gradient
    symbols = [entry.symbol for entry in way.plan.entries]
    if not refused or request.primal_suffices:
        return
    if request.names or all(symbol in refused for symbol in symbols):
        raise next(refused[symbol] for symbol in symbols if symbol in refused)


def _contents(
    request: Request, read: Source, way: Differentiated, host: HostCode | None, device: list[CudaCode], toolkit: str
) -> Contents:
    entries = tuple(_entry(request, each, host, device) for each in way.plan.entries)
    entries += tuple(_refused_entry(request, each, reason) for each, reason in way.plan.refused)
    files: dict[str, bytes | Path] = {
        f"{render.module_name(read.stem)}.py": render.python_module(read.stem, read.path.name, entries).encode(),
        artifact.DEPENDENCIES: json.dumps([str(path) for path in way.primal.dependencies]).encode(),
    }
    if host:
        files[render.header_name(read.stem)] = render.header(read.stem, read.path.name, entries).encode()
        files |= {host.library.name: host.library, openmp.LIBOMP: host.libomp}
    for code in device:
        files |= {code.cubin.name: code.cubin, code.ptx.name: code.ptx}
    return Contents(
        adgen=__version__,
        source=artifact.Source(read.path.name, read.digest),
        options=artifact.Options(
            request.flags,
            request.fast_math,
            dict(request.activity),
            request.modes,
            request.inactive,
            dict(request.derivatives),
        ),
        entries=entries,
        files=files,
        library=host.library.name if host else None,
        cpu=processor.baseline() if host else processor.PLAIN,
        cuda={code.arch: (code.cubin.name, code.ptx.name) for code in device},
        blocks={code.arch: code.blocks for code in device},
        toolkit=toolkit,
    )


def _entry(request: Request, entry: Signature, host: HostCode | None, device: list[CudaCode]) -> Entry:
    targets: dict[Target, TargetEntry] = {}
    forward: dict[Target, TargetEntry] = {}
    twice: dict[Target, TargetEntry] = {}
    made: tuple[tuple[Target, HostCode | CudaCode | None], ...]
    worst = next((code for code in device if entry.symbol in code.failed.symbols), next(iter(device), None))
    made = (("openmp", host), ("cuda", worst))
    for target, code in made:
        if code:
            targets[target] = code.entries[entry.symbol]
            forward[target], twice[target] = code.forward[entry.symbol], code.second[entry.symbol]
    modes = ("forward",) if request.witness else request.modes
    return Entry(entry, targets, forward if "forward" in modes else {}, twice if "second" in modes else {})


def _refused_entry(request: Request, entry: Signature, reason: AdgenError) -> Entry:
    """An entry that is there to say why it is not."""
    refusal = as_refusal(reason, entry)
    made = TargetEntry(None, None, primal_refused=refusal, gradient_refused=refusal)
    return Entry(entry, dict.fromkeys(request.targets, made))
