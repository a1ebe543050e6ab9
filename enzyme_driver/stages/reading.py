"""A CUDA file is read although clang meets errors in it: host code may need what is not there.

clang reads the whole file once, whatever the errors, and keeps what it has read. An error inside a function of the host
does no harm: no code is made of that. An error elsewhere could: what it is in is left out of a copy, and the copy is
read. In the end the functions that code was made of are compared with the places of all errors.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from enzyme_driver import pipelines
from enzyme_driver.command import Completed
from enzyme_driver.errors import Location, SourceError
from enzyme_driver.stages.diagnostics import Diagnostic, as_error, errors, rejected, undecided
from enzyme_driver.stages.dialect import in_words_of_clang, with_template, without_constructors, without_static
from enzyme_driver.stages.host_code import MISSING, HostCode, may_be_empty
from enzyme_driver.stages.precompiled import without_errors
from enzyme_driver.stages.prefix import Prefix, compiled
from enzyme_driver.stages.source import Source
from enzyme_driver.stages.workspace import Workspace

_ROUNDS = 24
"""How often clang is asked again: what is left out declares what others use."""

_KEEP_READING = ("-ferror-limit=0", "-Xclang", "-emit-pch", "-Xclang", "-fallow-pch-with-compiler-errors")

_WORDS = (
    (re.compile(r"static declaration of '.*' follows non-static declaration"), without_static),
    (re.compile(r"reference to overloaded function could not be resolved"), with_template),
    (re.compile(r"initialization is not supported for __shared__ variables"), without_constructors),
)
"""What other compilers read, by clang's errors: a function is as its first declaration says, what is called with
arguments of a template is one, and shared variables are not constructed."""

_REQUESTED = "requested here"
"""Ends clang's notes of what asks for an instance of a template."""

Place = tuple[Path, int, int]
"""A file with a line and a column."""


class Clang(Protocol):
    """clang with the file's options, behind the prelude or behind what was read already."""

    def __call__(self, *words: str | Path, behind: Path | None = None) -> Completed: ...


@dataclass(frozen=True)
class Reason:
    """Why a function of the device is not there."""

    name: str
    error: SourceError
    kernel: bool


@dataclass(frozen=True)
class Parsed:
    """A file as clang has read it, with errors in what is no code of the device.

    `file` is what clang has written of `source`, `copies` are the texts of files of which something was left out,
    `flags` make clang read them, `behind` is what was compiled of its first headers. `absent` are headers that nobody
    has.
    """

    source: Path
    file: Path
    copies: Mapping[Path, HostCode]
    flags: tuple[str | Path, ...]
    harmless: tuple[Diagnostic, ...]
    left_out: int = 0
    unread: tuple[Reason, ...] = ()
    behind: Path | None = None
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class _State:
    """What is left out so far: `copies` of texts, `said` first of lines in them, `headers` that are empty."""

    copies: Mapping[Path, HostCode] = field(default_factory=dict)
    said: Mapping[tuple[Path, int], Diagnostic] = field(default_factory=dict)
    headers: frozenset[str] = frozenset()
    places: int = 0

    @property
    def left_out(self) -> int:
        return self.places + len(self.headers)

    @property
    def absent(self) -> tuple[str, ...]:
        """The headers that nobody has, as the file names them or by their paths; those of the user's first."""
        beside = [str(path) for path in self.copies if not path.exists()]
        return (*beside, *sorted(self.headers, key=lambda name: ("/" in name, name)))


class _StoppedError(Exception):
    """Leaving out is not enough: `done` is what clang said last, and something was left out before."""

    def __init__(self, done: Completed, state: _State) -> None:
        super().__init__()
        self.done, self.state = done, state


def read(source: Source, workspace: Workspace, clang: Clang, depfile: Path, output: Path, first: Completed) -> Parsed:
    """Read a file that clang rejects by `first`, and make code of it.

    Raises SourceError where what is wrong could be of the device. What was read is written down as dependencies.
    """
    reading = _Reading(source, workspace, clang, depfile, output)
    try:
        return reading.parsed(first)
    except _StoppedError as stop:
        beside = rejected(source, stop.done) if stop.state.left_out else None
        raise rejected(source, first, beside=beside) from None


class _Reading:
    def __init__(self, source: Source, workspace: Workspace, clang: Clang, depfile: Path, output: Path) -> None:
        self._source, self._workspace, self._clang = source, workspace, clang
        self._depfile, self._output = depfile, output
        self._stubs = workspace.file("missing-headers")
        self._file = output.with_suffix(".pch")
        self._texts: dict[Path, HostCode] = {}
        self._prefix: Prefix | None = None

    def parsed(self, first: Completed) -> Parsed:
        """Read until nothing is wrong but in functions of the host."""
        state = self._begun(first)
        for _ in range(_ROUNDS):
            flags = self._flags(state)
            done = self._clang(
                *(*_KEEP_READING, *flags, "-S", "-emit-llvm", "-MD", "-MF", self._depfile),
                *(self._source.path, "-o", self._file),
                behind=self._behind,
            )
            if self._prefix:
                self._prefix.add_to(self._depfile)
            found = errors(done.stderr)
            missing = _missing(found)
            if missing:
                state = self._without_headers(state, missing, done, flags)
                continue
            rewritten = self._rewritten(state) or self._reworded(state, found)
            if rewritten:
                state = replace(state, copies={**state.copies, **rewritten})
                continue
            wrong: Sequence[Diagnostic] = [said for said in found if not self._is_of_host(said, state)]
            if not wrong:
                parsed = self._kept(state, flags, found, done)
                wrong, done = self._generated(parsed, done)
                if not wrong:
                    return parsed
            rewritten = self._reworded(state, wrong)
            state = (
                replace(state, copies={**state.copies, **rewritten}) if rewritten else self._without(state, wrong, done)
            )
        raise _StoppedError(done, state)

    def _begun(self, first: Completed) -> _State:
        """What is known to be left out before the file is read again, and its first headers."""
        state = _State()
        missing = _missing(errors(first.stderr))
        if missing:
            state = self._without_headers(state, missing, first, self._flags(state))
        state = replace(state, copies={**state.copies, **self._rewritten(state)})
        flags, text = ("-idirafter", self._stubs), self._text(self._source.path)
        read = (self._source, text, self._depfile)
        self._prefix = compiled(*read, self._workspace, self._clang, flags, self._users_in)
        return state

    @property
    def _behind(self) -> Path | None:
        return self._prefix.file if self._prefix else None

    def _users_in(self, rule: Path) -> list[Path]:
        """The user's files in a rule, but for the one that is read."""
        read = dependencies(rule, self._source.path) if rule.exists() else ()
        return [path for path in read if is_users(path, self._workspace)]

    def _rewritten(self, state: _State) -> dict[Path, HostCode]:
        """The user's files that are to be read in clang's words; these come before anything is left out."""
        if state.places or not self._depfile.exists():
            return {}
        return _for_nvcc(self._source, self._depfile, self._workspace, state.copies.keys())

    def _reworded(self, state: _State, found: Iterable[Diagnostic]) -> dict[Path, HostCode]:
        """The user's files with what other compilers read, and clang does not, in clang's words."""
        texts: dict[Path, HostCode] = {}
        for error, reworded in _WORDS:
            places: dict[Path, set[tuple[int, int]]] = {}
            for said in found:
                if error.match(said.text) and is_users(said.file, self._workspace):
                    places.setdefault(_whole(said.file), set()).add((said.line, said.column))
            for file, where in places.items():
                before = texts.get(file) or self._text(file, state)
                text = reworded(before.text, where)
                if text != before.text:
                    texts[file] = HostCode(text, before.unread)
        return texts

    def _kept(self, state: _State, flags: Sequence[str | Path], found: list[Diagnostic], done: Completed) -> Parsed:
        version = self._workspace.toolchain.clang.version
        if not done.ok or (found and not without_errors(self._file, version)):
            raise _StoppedError(done, state)
        unread = tuple(
            Reason(each.name, self._why(path, each.lines, state), each.kernel)
            for path, text in state.copies.items()
            for each in text.unread
        )
        left_out = state.left_out + len(found)
        read = (self._source.path, self._file, state.copies, tuple(flags), tuple(found))
        return Parsed(*read, left_out, unread, self._behind, state.absent)

    def _generated(self, parsed: Parsed, done: Completed) -> tuple[Sequence[Diagnostic], Completed]:
        """What is wrong in code of the device, once that is made, and what clang says of it.

        A file that has no kernel even so may have them in a header that is missing. clang may also end abruptly over
        what it keeps of errors in host code: then these are to be left out as well.
        """
        unit = self._workspace.file("nothing.cu")
        unit.touch()
        generated = generate(self._clang, parsed, unit, self._output)
        if not generated.ok:
            wrong = errors(generated.stderr) or parsed.harmless
            if not wrong:
                raise _StoppedError(generated, _State())
            return wrong, generated
        code = made(parsed, self._output, self._workspace)
        if not (code.has_kernels or parsed.unread or self._speaks_of_kernels()):
            raise _StoppedError(done, _State())
        return code.wrong, done

    def _speaks_of_kernels(self) -> bool:
        """Whether a file of the user's that clang has read has kernels, of which there may be no instance."""
        read = (self._source.path, *dependencies(self._depfile, self._source.path))
        return any("__global__" in self._text(_whole(path)).text for path in read if is_users(path, self._workspace))

    def _why(self, path: Path, lines: range, state: _State) -> SourceError:
        """What clang said first about these lines: later it speaks of what stands for them."""
        said = [each for (file, line), each in state.said.items() if file == path and line in lines]
        return (
            as_error(said[0], self._source, state.absent)
            if said
            else SourceError("does not compile", location=Location(str(path), lines.start))
        )

    def _text(self, path: Path, state: _State | None = None) -> HostCode:
        if state and path in state.copies:
            return state.copies[path]
        if path not in self._texts:
            self._texts[path] = _text_of(path)
        return self._texts[path]

    def _is_of_host(self, said: Diagnostic, state: _State) -> bool:
        """Whether it is in a function that the GPU does not have, as far as its text shows."""
        body = self._text(_whole(said.file), state).body(said.line, said.column)
        return body is not None and not body.device

    def _without(self, state: _State, harmful: Iterable[Diagnostic], done: Completed) -> _State:
        """Leave out what is wrong, each in the user's file that it goes back to."""
        places: dict[Path, set[tuple[int, int]]] = {}
        known = dict(state.said)
        for said in harmful:
            place = self._asked_by_host(said, state) or self._users(said)
            if place is None:
                continue
            file, line, column = place
            places.setdefault(file, set()).add((line, column))
            known.setdefault((file, line), said)
        changed = {file: self._text(file, state).without(where) for file, where in places.items()}
        copies = {file: text for file, text in changed.items() if text is not None}
        if not places or len(copies) < len(changed):
            raise _StoppedError(done, state)
        count = state.places + sum(map(len, places.values()))
        return replace(state, copies={**state.copies, **copies}, said=known, places=count)

    def _users(self, said: Diagnostic) -> Place | None:
        """The first place in the user's files that the error goes back to."""
        return next((_place(each) for each in (said, *said.notes) if is_users(each.file, self._workspace)), None)

    def _asked_by_host(self, said: Diagnostic, state: _State) -> Place | None:
        """The place in a function of the host that asks for the instance of a template in which the error is."""
        asked = (note for note in said.notes if _REQUESTED in note.text and is_users(note.file, self._workspace))
        return next((_place(note) for note in asked if self._is_of_host(note, state)), None)

    def _without_headers(
        self, state: _State, missing: Diagnostic, done: Completed, flags: Sequence[str | Path]
    ) -> _State:
        """Empty headers in place of those that are missing."""
        name = str(MISSING.search(missing.text)["name"])  # type: ignore[index]
        beside = _whole(missing.file.parent / name)
        if ".." in name and beside not in state.copies:
            return replace(state, copies={**state.copies, beside: HostCode("")}, places=state.places + 1)
        if not self._stub(name, missing.file):
            raise _StoppedError(done, state)
        rule = self._workspace.file("missing.d")
        listed = self._clang(*flags, "-M", "-MG", self._source.path, "-o", rule, behind=self._behind)
        others = _words(rule) if listed.ok and rule.exists() else []
        made = [other for other in others if not Path(other).exists() and self._stub(other, self._source.path)]
        return replace(state, headers=state.headers | {name, *made})

    def _stub(self, name: str, file: Path) -> bool:
        """An empty header in place of a missing one; not where it could decide what is compiled."""
        path = self._stubs / name
        if not may_be_empty(name) or path.exists() or undecided(name, self._text(_whole(file)), self._source):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return True

    def _flags(self, state: _State) -> tuple[str | Path, ...]:
        """What makes clang read the copies, under their own names."""
        stubs = ("-idirafter", self._stubs)
        if not state.copies:
            return stubs
        roots = []
        for number, (path, text) in enumerate(state.copies.items()):
            copy = self._workspace.file(f"copy-{number}-of-{path.name}")
            copy.write_text(text.text, encoding="latin-1")
            roots.append({"type": "file", "name": str(path), "external-contents": str(copy)})
        overlay = self._workspace.file("copies.json")
        named = {"version": 0, "case-sensitive": "true", "use-external-names": "false", "roots": roots}
        overlay.write_text(json.dumps(named), encoding="utf-8")
        return ("-ivfsoverlay", overlay, *stubs)


def generate(clang: Clang, parsed: Parsed, unit: Path, output: Path) -> Completed:
    """Make code of what was read, and of a unit behind it.

    clang may end abruptly over what it has written itself; it then reads once more, where nothing is wrong any more.
    """
    flags = ("-ferror-limit=0", *parsed.flags, "-S", "-emit-llvm", "-o", output)
    done = clang(*flags, unit, behind=parsed.file)
    if done.ok or errors(done.stderr) or parsed.harmless:
        return done
    whole = unit.with_name(f"whole-{unit.name}")
    whole.write_text(f'#include "{parsed.source}"\n{unit.read_text(encoding="utf-8")}', encoding="utf-8")
    return clang(*flags, whole, behind=parsed.behind)


@dataclass(frozen=True)
class Made:
    """What code was made of: whether there are kernels, and which errors lie in functions of which there is code."""

    has_kernels: bool
    wrong: tuple[Diagnostic, ...]


def made(parsed: Parsed, module: Path, workspace: Workspace) -> Made:
    """Look at the module that was generated from what was read."""
    entries = json.loads(workspace.opt(pipelines.DESCRIBE, module, None).stdout)["entries"]
    lines: dict[Path, set[int]] = {}
    for entry in entries:
        lines.setdefault(_whole(Path(entry["directory"], entry["file"])), set()).add(entry["line"])
    texts = {path: _text_of(path) for path in {_whole(said.file) for said in parsed.harmless} - parsed.copies.keys()}

    def is_wrong(said: Diagnostic) -> bool:
        path = _whole(said.file)
        body = (parsed.copies.get(path) or texts[path]).body(said.line, said.column)
        return body is None or any(line in body.lines for line in lines.get(path, ()))

    return Made(any(entry["kernel"] for entry in entries), tuple(filter(is_wrong, parsed.harmless)))


def _text_of(path: Path) -> HostCode:
    return HostCode(path.read_text(encoding="latin-1") if path.is_file() else "")


def is_for_nvcc(source: Source, depfile: Path, workspace: Workspace) -> bool:
    """Whether something of the user's that clang has read means something else to nvcc."""
    return bool(_for_nvcc(source, depfile, workspace, ()))


def _for_nvcc(source: Source, depfile: Path, workspace: Workspace, known: Collection[Path]) -> dict[Path, HostCode]:
    """The texts in clang's words of the user's files in which that makes a difference."""
    files = [_whole(path) for path in (source.path, *dependencies(depfile, source.path)) if is_users(path, workspace)]
    texts = {path: path.read_text(encoding="latin-1") for path in files if path not in known}
    return {path: HostCode(said) for path, text in texts.items() if (said := in_words_of_clang(text)) != text}


def _missing(found: Iterable[Diagnostic]) -> Diagnostic | None:
    """The first header that is missing."""
    return next((said for said in found if MISSING.search(said.text)), None)


def is_users(file: Path, workspace: Workspace) -> bool:
    """Whether it is neither adgen's nor of a library."""
    tools = workspace.toolchain
    folders = (tools.cuda_root, tools.clang.prefix, Path("/usr/include"), Path("/usr/lib"), Path(__file__).parents[1])
    path = _whole(file)
    return path.is_file() and not any(path.is_relative_to(folder) for folder in (*folders, workspace.folder))


def _whole(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - what clang writes has .. in it, and links stay links


def _place(said: Diagnostic) -> Place:
    return _whole(said.file), said.line, said.column


def dependencies(rule: Path, unit: Path) -> tuple[Path, ...]:
    """The files that a Make rule names, but for the unit itself; in names, spaces, # and $ are escaped."""
    return tuple(Path(word).absolute() for word in _words(rule) if Path(word) != unit)


def _words(rule: Path) -> list[str]:
    names = rule.read_text(encoding="utf-8").partition(": ")[2].replace("\\\n", " ")
    return [re.sub(r"\\([ #])|\$(\$)", r"\1\2", word) for word in re.split(r"(?<!\\)\s+", names) if word]
