"""Calls the host library: the OpenMP target, and C++ functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from enzyme_driver.artifact import Artifact
from enzyme_driver.errors import ArgumentError, ArtifactError, Location, PrimalError
from enzyme_driver.model import Signature, Target, TargetEntry
from enzyme_driver.runtime.backends.kept import wants_no_numbers_kept
from enzyme_driver.runtime.backends.limits import RACES, Race, wanted_limit
from enzyme_driver.runtime.backends.teams import wanted_threads
from enzyme_driver.runtime.call.accumulation import WAYS, wanted_accumulation
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.plain import PlainCall
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.transforms.batch import Batch

MOST_KEPT = 64
"""So many descriptions of shadows are kept for a kernel or function, by their sizes."""


_OTHER_SIZE = 2
"""What a function of the library returns where a vector has another size than the array that was given for it."""


class _HostShadow(ctypes.Structure):
    """`adgen_shadow` of host_runtime/accumulation.h."""

    _fields_: ClassVar = [("argument", ctypes.c_uint32), ("element", ctypes.c_uint32), ("bytes", ctypes.c_uint64)]


class _HostMemory(ctypes.Structure):
    """`adgen_memory` of host_runtime/accumulation.h."""

    _fields_: ClassVar = [("start", ctypes.c_void_p), ("bytes", ctypes.c_uint64), ("element", ctypes.c_uint32)]


class _HostRace(ctypes.Structure):
    """`adgen_race` of host_runtime/races.h."""

    _fields_: ClassVar = [
        ("kind", ctypes.c_uint32),
        ("same_block", ctypes.c_uint32),
        ("where", ctypes.c_char_p),
        ("before", ctypes.c_char_p),
        ("block", ctypes.c_uint64),
        ("block_before", ctypes.c_uint64),
        ("thread", ctypes.c_uint32),
        ("thread_before", ctypes.c_uint32),
        ("address", ctypes.c_void_p),
    ]


class HostBackend:
    """The loaded host library of an artifact."""

    target: Target = "openmp"

    def __init__(self, artifact: Artifact, stack_bytes: int | None = None) -> None:
        self._path = artifact.library()
        self._digest = artifact.manifest.binaries.openmp.sha256 if artifact.manifest.binaries.openmp else ""
        self._library = _opened(self._path)
        if stack_bytes is not None:
            self._library["adgen_set_stack_bytes"](ctypes.c_uint64(stack_bytes))
        self._functions: dict[str, ctypes._NamedFuncPointer] = {}
        self._names: dict[str | None, str] = {}
        for entry in artifact.entries:
            name, made, forward = entry.signature.name, entry.targets.get(self.target), entry.forward.get(self.target)
            if forward:
                self._names[forward.gradient] = f"the tangent of {name}"
            if second := entry.second.get(self.target):
                self._names[second.gradient] = f"the second derivative of {name}"
            if made:
                self._names |= {made.gradient: f"the gradient of {name}", made.primal: name}

    def launch(self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool) -> None:
        """Run a kernel over all blocks, in parallel, and return when it is done. Releases the GIL."""
        if launch.stream is not None:
            raise ArgumentError("the OpenMP target has no streams", hint="write kernel[grid, block]")
        for shadow in prepared.variables:
            data = ctypes.string_at(shadow.view.address, shadow.view.nbytes) if shadow.view else shadow.data
            self.write_variable(shadow.symbol, data)
        self._call(_symbol(entry, gradient=gradient), prepared, ctypes.addressof(launch.described), None)
        for shadow in prepared.variables:
            if shadow.view:
                data = self.read_variable(shadow.symbol, shadow.view.nbytes)
                ctypes.memmove(shadow.view.address, data, len(data))

    def repeated(self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool) -> None:
        """A launch does nothing twice that it could leave out."""

    def launch_batch(
        self, signature: Signature, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, batch: Batch
    ) -> None:
        """Run many launches of a gradient one after the other, see `Batch`."""
        for values in batch.moved(prepared.values, signature):
            self.launch(entry, replace(prepared, values=values), launch, gradient=True)

    def read_variable(self, symbol: str, size: int) -> bytes:
        """The bytes of a global variable of the library."""
        return ctypes.string_at(self._variable(symbol), size)

    def write_variable(self, symbol: str, data: bytes) -> None:
        ctypes.memmove(self._variable(symbol), data, len(data))

    @contextmanager
    def races(self) -> Iterator[list[Race]]:
        """The first race of the launches inside, which have to be limited by a time; of a witness only."""
        found: list[Race] = []
        watch, ask = self._library["adgen_watch_races"], self._library["adgen_race_found"]
        watch.argtypes, watch.restype = [ctypes.c_bool], None
        ask.argtypes, ask.restype = [], ctypes.POINTER(_HostRace)
        watch(True)
        try:
            yield found
            if each := ask():
                found.append(_race(each.contents))
        finally:
            watch(False)

    def _variable(self, symbol: str) -> int:
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(self._library, symbol))
        except ValueError as error:
            hint = "compile it again with `adgen compile`"
            raise ArtifactError(f"{self._path} lacks {symbol!r}: {error}", hint=hint) from None

    def stream_of(self, launch: Launch, prepared: PreparedArguments) -> None:
        """The host has no streams."""

    def is_capturing(self, launch: Launch, prepared: PreparedArguments) -> bool:
        del launch, prepared
        return False

    def finish(self) -> None:
        """A launch returns when it is done."""

    @property
    def free_bytes(self) -> int:
        """What the system can give without swapping."""
        return available_bytes()

    @property
    def binary(self) -> str:
        return self._digest

    def call(self, entry: TargetEntry, prepared: PreparedArguments, result_size: int, *, gradient: bool) -> bytes:
        """Call a function; the bytes that it returned."""
        result = ctypes.create_string_buffer(max(result_size, 16))
        address = ctypes.addressof(result) if result_size else None
        self._call(_symbol(entry, gradient=gradient), prepared, None, address)
        return result.raw[:result_size]

    def runs_plain(self, entry: TargetEntry, launch: Launch | None, *, gradient: bool) -> bool:
        """Whether there is no stream, which `launch` refuses."""
        del entry, gradient
        return launch is None or launch.stream is None

    def run_plain(
        self, entry: TargetEntry, call: PlainCall, launch: Launch | None, result_size: int, *, gradient: bool
    ) -> bytes:
        """A launch, or the call of a function, on plain arguments: what it returned."""
        symbol, result = _symbol(entry, gradient=gradient), ctypes.create_string_buffer(16) if result_size else None
        where = ctypes.addressof(launch.described) if launch else None
        into = ctypes.addressof(result) if result else None
        self._run(symbol, call.table, where, into, partial(self._say, call, function=launch is None))
        return result.raw[:result_size] if result else b""

    def _call(self, symbol: str, prepared: PreparedArguments, launch: int | None, result: int | None) -> None:
        say = partial(self._say_accumulation, prepared, function=launch is None)
        self._run(symbol, prepared.table.address, launch, result, say)

    def _run(self, symbol: str, table: int, launch: int | None, result: int | None, say: Callable[[], None]) -> None:
        """`say` tells the library what threads of a gradient may have copies of."""
        function = self._function(symbol)
        count, numbers, limit = wanted_threads(), wants_no_numbers_kept(), wanted_limit()
        if count is None and not numbers and limit is None:
            say()
            failed = function(launch, table, result)
        else:
            with self._team(count), self._kept():
                say()
                with self._limited(kernel=launch is not None):
                    failed = function(launch, table, result)
        if failed:
            message = (self._last_error() or b"no message").decode(errors="replace")
            if failed == _OTHER_SIZE:
                raise ArgumentError(
                    f"{self._names.get(symbol, symbol)}: {message}",
                    hint="give an array, and of what is returned a cotangent, of the size that the function makes",
                )
            raise PrimalError(
                f"{self._names.get(symbol, symbol)} failed: {message}",
                hint="the message comes from the compiled code itself; a gradient also ends at an exception that the "
                "code catches: put a condition in its place",
            )

    def _say(self, call: PlainCall, *, function: bool) -> None:
        """Of the next gradient that this thread calls."""
        if call.kept is None:
            return
        described = call.kept.get(call.sizes)
        if described is None:
            told = zip(call.shadows, call.addresses, call.sizes, strict=True)
            read, others = [], []
            for (place, each), address, size in told:
                if each and place is not None:
                    read.append((place, each, size))
                elif each:
                    others.append((address, size, each))
            described = _described(read, others if function else [])
            if len(call.kept) < MOST_KEPT and not (function and others):  # whose addresses are others the next time
                call.kept[call.sizes] = described
        self._told(call.count, described)

    def _say_accumulation(self, prepared: PreparedArguments, *, function: bool) -> None:
        told = prepared.accumulated
        if told:
            kept = prepared.kept.get(function)
            if kept is None:
                read = [(each.argument, each.number, each.nbytes) for each in told if each.argument is not None]
                others = [(each.start, each.nbytes, each.number) for each in told if each.argument is None]
                kept = prepared.kept[function] = _described(read, others if function else [])
            self._told(len(prepared.values), kept)

    @cached_property
    def _accumulate(self) -> Callable[..., object]:
        return self._library["adgen_accumulate"]

    @cached_property
    def _accumulate_memory(self) -> Callable[..., object] | None:
        """Of libraries that have it."""
        return getattr(self._library, "adgen_accumulate_memory", None)

    def _told(self, count: int, described: Any) -> None:  # noqa: ANN401  (arrays of ctypes)
        read, others = described
        self._accumulate(count, WAYS[wanted_accumulation()], len(read), read)
        if others and self._accumulate_memory:
            self._accumulate_memory(len(others), others)

    @property
    def threads(self) -> int:
        """How many OpenMP threads a call uses now."""
        return wanted_threads() or int(self._library.omp_get_max_threads())

    @contextmanager
    def _team(self, count: int | None) -> Iterator[None]:
        """OpenMP's number of threads, which the library's libomp keeps for each thread of the program."""
        if count is None:
            yield
            return
        before = self._library.omp_get_max_threads()
        self._library.omp_set_num_threads(count)
        try:
            yield
        finally:
            self._library.omp_set_num_threads(before)

    @contextmanager
    def _limited(self, *, kernel: bool) -> Iterator[None]:
        """What a launch runs, where that was limited."""
        limit = wanted_limit() if kernel else None
        if limit is None:
            yield
            return
        self._library.adgen_limit(ctypes.c_uint64(limit.blocks), ctypes.c_double(limit.seconds))
        yield
        count = self._library["adgen_blocks_run"]
        count.restype = ctypes.c_uint64
        limit.run = count()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """What lies in the memory for what gradients keep, in all threads of the library."""
        if not wants_no_numbers_kept():
            yield
            return
        fill = self._found("adgen_keep_no_numbers")
        fill.argtypes, fill.restype = [ctypes.c_bool], None
        fill(True)
        try:
            yield
        finally:
            fill(False)

    def _function(self, symbol: str) -> ctypes._NamedFuncPointer:
        if symbol not in self._functions:
            self._functions[symbol] = self._found(symbol)
        return self._functions[symbol]

    def _found(self, symbol: str) -> ctypes._NamedFuncPointer:
        try:
            function = self._library[symbol]
        except (AttributeError, ValueError) as error:
            hint = "compile it again with `adgen compile`"
            raise ArtifactError(f"{self._path} lacks {symbol!r}: {error}", hint=hint) from None
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        function.restype = ctypes.c_int
        return function

    def _last_error(self) -> bytes | None:
        function = self._library["adgen_last_error"]
        function.restype = ctypes.c_char_p
        message: bytes | None = function()
        return message


def _described(read: Sequence[Any], others: Sequence[Any]) -> Any:  # noqa: ANN401
    """Arrays of `_HostShadow` and of `_HostMemory`, from tuples of their members."""
    return (_HostShadow * len(read))(*read), (_HostMemory * len(others))(*others)


def _race(found: _HostRace) -> Race:
    return Race(
        RACES[found.kind],
        _place(found.where),
        _place(found.before),
        (found.block, found.thread),
        (found.block_before, found.thread_before),
        found.address or 0,
    )


def _place(text: bytes) -> Location:
    file, _, line = text.decode(errors="replace").rpartition(":")
    return Location(file, int(line))


def available_bytes() -> int:
    """Of the machine's memory."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _opened(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        hint = "compile it again on this machine with `adgen compile`"
        raise ArtifactError(f"{path} cannot be loaded: {error}", hint=hint) from None


def _symbol(entry: TargetEntry, *, gradient: bool) -> str:
    symbol = entry.gradient if gradient else entry.primal
    if symbol is None:  # a manifest can say so without a refusal
        raise ArtifactError("the manifest names no symbol", hint="compile it again with `adgen compile`")
    return symbol
