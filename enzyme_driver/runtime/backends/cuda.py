"""Launches kernels on NVIDIA GPUs, on the caller's device, context and stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from enzyme_driver.artifact import Artifact
from enzyme_driver.errors import ArgumentError, DeviceError, RefusedError
from enzyme_driver.model import Signature, Target, TargetEntry
from enzyme_driver.runtime.backends.caches import DeviceTapes, KnownSizes, check_tape, resident_blocks, with_slack
from enzyme_driver.runtime.backends.cubins import LoadedCode
from enzyme_driver.runtime.backends.driver import (
    api,
    current_device,
    device_of,
    done,
    is_capturing,
    name_of,
    on_device,
    synchronize,
)
from enzyme_driver.runtime.backends.heap import check_heap, deepen_stack, size_heap
from enzyme_driver.runtime.backends.repeated import RepeatedLaunch
from enzyme_driver.runtime.backends.streams import current_stream, stream_handle, wait_for
from enzyme_driver.runtime.call.arrays import ArrayView
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.libraries import Fills
from enzyme_driver.runtime.call.packing import ArgumentTable, pointer_bytes
from enzyme_driver.runtime.call.plain import PlainCall
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.transforms.batch import Batch, batch_symbol

Call = tuple[tuple[bytes, ...], int]
"""The values of a launch and its bytes of dynamic shared memory."""

Scalars = tuple[bytes, ...]
"""What a launch hands over by value."""


class CudaBackend:
    """The GPU code of an artifact, loaded on each device at its first use.

    Launches are asynchronous, except those of gradients that use the device heap, and those with JAX arrays, whose
    memory JAX may give away as soon as the call returns.
    """

    target: Target = "cuda"

    def __init__(self, artifact: Artifact, heap_bytes: int, tape_limit: int) -> None:
        self._artifact = artifact
        self._heap_bytes = heap_bytes
        self._tape_limit = tape_limit
        self._tapes: dict[int, DeviceTapes] = {}
        self._sizes = KnownSizes()
        self._loaded: dict[int, LoadedCode] = {}
        targets = (entry.targets.get("cuda") for entry in artifact.entries)
        self._uses_heap = any(target.heap for target in targets if target)

    def launch(self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool) -> None:
        """Queue a kernel on the stream. Raises DeviceError where the GPU, the driver or the launch fails."""
        device = device_of_views(prepared.views)
        immutable = prepared.immutable
        for value in immutable:
            value.block_until_ready()
        with on_device(device):
            stream = stream_handle(launch.stream, prepared.keep, device)
            wait_for((view.stream for view in prepared.views if view.stream is not None), stream)
            code = self._code(device)
            lent = _lent_bytes(entry, prepared, launch, gradient=gradient)
            call = _with_shared(entry, prepared, launch, lent, gradient=gradient)
            _copy_shadows_in(code, prepared, stream)
            if gradient and entry.tape:
                self._launch_with_tape(code, entry, call, prepared, launch, stream)
            else:
                table = prepared.table if call[0] is prepared.values else None
                together = entry.waits(derivative=gradient)
                symbol = entry.kernel(derivative=gradient, lent=lent)
                _launch(code, symbol, call, launch, stream, together=together, table=table)
            _copy_shadows_out(code, prepared, stream)
            if gradient and entry.heap:
                check_heap(code, stream)
            elif immutable:
                synchronize(stream)

    def repeated(
        self, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool
    ) -> RepeatedLaunch | None:
        """The same launch again, where it is one of a kernel and nothing else."""
        more = gradient and (entry.tape or entry.heap or entry.dynamic_shared or entry.dynamic_shadow_bytes)
        if more or entry.waits(derivative=gradient) or prepared.variables or prepared.immutable:
            return None
        device, lent = device_of_views(prepared.views), _lent_bytes(entry, prepared, launch, gradient=gradient)
        symbol = entry.kernel(derivative=gradient, lent=lent)
        with on_device(device):
            kernel = self._code(device).kernel(symbol, prod(launch.block))
            _, dynamic = _with_shared(entry, prepared, launch, lent, gradient=gradient)
            kernel.allow_dynamic(dynamic)
            given = None if launch.stream is None else stream_handle(launch.stream, (), device)
        return RepeatedLaunch(
            kernel.handle,
            replace(launch, said_bytes=dynamic),
            prepared.table.address,
            device,
            current_stream(prepared.keep) if given is None else lambda _: given,
            frozenset(view.stream for view in prepared.views if view.stream is not None),
            lambda status: _check(status, kernel.handle, symbol, launch),
        )

    def runs_plain(self, entry: TargetEntry, launch: Launch | None, *, gradient: bool) -> bool:
        """Whether it is one launch on the current stream."""
        if launch is None or launch.stream is not None or launch.shared_bytes:
            return False
        more = gradient and (entry.tape or entry.heap or entry.dynamic_shadow_bytes)
        return not (entry.waits(derivative=gradient) or entry.dynamic_shared or more)

    def run_plain(
        self, entry: TargetEntry, call: PlainCall, launch: Launch | None, result_size: int, *, gradient: bool
    ) -> bytes:
        """Queue a kernel on the current stream."""
        del result_size
        if launch is None:
            raise TypeError(launch)
        lent = entry.lent_bytes(call.sizes, launch.grid) if gradient and entry.lent else 0
        driver, symbol = api(), entry.kernel(derivative=gradient, lent=lent)
        with on_device(call.device):
            kernel = self._code(call.device).kernel(symbol, prod(launch.block))
            stream, extents = call.arrays.stream(call.device), (*launch.grid, *launch.block)
            _fill(call.fills, stream)
            status = driver.cuLaunchKernel(kernel.handle, *extents, lent, stream, call.table, 0)
            _check(status, kernel.handle, symbol, launch)
        return b""

    def launch_batch(
        self, signature: Signature, entry: TargetEntry, prepared: PreparedArguments, launch: Launch, batch: Batch
    ) -> None:
        """Queue many launches of a gradient as one kernel, see `Batch`."""
        symbol = batch_symbol(signature.name, entry)
        device = device_of_views(prepared.views)
        with on_device(device):
            stream = stream_handle(launch.stream, prepared.keep, device)
            wait_for((view.stream for view in prepared.views if view.stream is not None), stream)
            code = self._code(device)
            values, dynamic = _with_shared(entry, prepared, launch, 0, gradient=True)
            x, y, z = launch.grid
            counts = [number.to_bytes(4, "little") for number in (x, batch.inner)]
            moves = [
                move.to_bytes(8, "little", signed=True)
                for by in batch.advances(signature)
                for move in (by.outer, by.inner)
            ]
            grid = (x * batch.outer * batch.inner, y, z)
            _launch(code, symbol, ((*values, *counts, *moves), dynamic), replace(launch, grid=grid), stream)
            if entry.heap:
                check_heap(code, stream)

    def _launch_with_tape(
        self, code: LoadedCode, entry: TargetEntry, call: Call, prepared: PreparedArguments, launch: Launch, stream: int
    ) -> None:
        """Measure what a thread needs, then let the blocks that fit on the GPU walk over the caller's grid.

        What was measured once holds for all launches alike where no array decides about it, and the host need not wait.
        """
        values, dynamic = call
        tapes = self._tapes.setdefault(code.device, DeviceTapes(self._tape_limit))
        symbol, runs = str(entry.gradient), entry.tape_size_from in {"run", "run in place"}

        def measure() -> int:
            measured = (*values, pointer_bytes(tapes.counter(stream)))
            with tapes.putting_back(_overwritten(entry, prepared), stream):
                _launch(code, str(entry.tape), (measured, dynamic), launch, stream, together=entry.cooperative)
            return tapes.read_counter(stream)

        if entry.tape_size_from == "scalars":
            size = self._sizes.of((symbol, prepared.scalars, launch.grid, launch.block, dynamic), measure)
        else:
            size = with_slack(measure()) if runs else measure()
        tape = tapes.tape(code, symbol, size, launch, dynamic, stream)
        if entry.cooperative and tape.blocks < prod(launch.grid):
            raise _too_many_blocks(symbol, launch, tape.blocks)
        walking = replace(launch, grid=(tape.blocks, 1, 1))
        passed = (*values, *tape.arguments(launch)), dynamic
        _launch(code, symbol, passed, walking, stream, together=entry.cooperative)
        if runs:
            check_tape(code, stream)

    def read_variable(self, symbol: str, size: int) -> bytes:
        """The bytes of a global variable on the current device, after all work on it."""
        data = bytearray(size)
        with on_device(current_device()) as _:
            done(api().cuCtxSynchronize(), "the GPU cannot be waited for")
            address = self._code(current_device()).global_address(symbol)
            done(api().cuMemcpyDtoH(data, address, size), f"the variable {symbol} cannot be read")
        return bytes(data)

    def write_variable(self, symbol: str, data: bytes) -> None:
        with on_device(current_device()) as _:
            done(api().cuCtxSynchronize(), "the GPU cannot be waited for")
            address = self._code(current_device()).global_address(symbol)
            done(api().cuMemcpyHtoD(address, data, len(data)), f"the variable {symbol} cannot be set")

    def call(self, entry: TargetEntry, prepared: PreparedArguments, result_size: int, *, gradient: bool) -> bytes:
        """Functions run on the host only."""
        del entry, prepared, result_size, gradient
        raise RefusedError("a function cannot be called on the GPU", hint="load the artifact with target='openmp'")

    def stream_of(self, launch: Launch, prepared: PreparedArguments) -> int | None:
        """The stream that new arrays are made on: the given one, after all that the arrays' library has queued.

        None where no stream is given: it is then the library's current one.
        """
        if launch.stream is None:
            return None
        device = device_of_views(prepared.views)
        with on_device(device):
            stream = stream_handle(launch.stream, prepared.keep, device)
            wait_for([stream_handle(None, prepared.keep, device)], stream)
        return stream

    def is_capturing(self, launch: Launch, prepared: PreparedArguments) -> bool:
        """Whether a launch goes into a CUDA graph."""
        device = device_of_views(prepared.views)
        with on_device(device):
            return is_capturing(stream_handle(launch.stream, prepared.keep, device))

    def finish(self) -> None:
        """Wait for all launches."""
        with on_device(current_device()):
            done(api().cuCtxSynchronize(), "the GPU cannot be waited for")

    @property
    def free_bytes(self) -> int:
        """Of the current device's memory."""
        with on_device(current_device()):
            free, _ = done(api().cuMemGetInfo(), "the GPU's memory cannot be asked for")
        return int(free)

    @property
    def binary(self) -> str:
        """The device, and the digests of the code for it and others."""
        digests = [each.sha256 for each in self._artifact.manifest.binaries.cuda.values()]
        return " ".join([name_of(current_device()), *digests])

    def _code(self, device: int) -> LoadedCode:
        if device not in self._loaded:
            if self._uses_heap:
                size_heap(self._heap_bytes)
            deepen_stack()
            self._loaded[device] = LoadedCode(self._artifact, device)
        return self._loaded[device]


def device_of_views(views: Sequence[ArrayView]) -> int:
    """The number of the GPU that the arrays lie on. Raises ArgumentError where there is no such one."""
    devices: dict[int, ArrayView] = {}
    for view in views:
        device = None if not view.nbytes else device_of(view.address) if view.device is None else view.device
        if view.nbytes and device is None:
            raise ArgumentError(
                f"an array of shape {view.shape} gives an address that the GPU does not know",
                hint="is its memory freed, or in host memory?",
            )
        if device is not None:
            devices[device] = view
    if len(devices) > 1:
        raise ArgumentError(
            f"the arrays lie on the GPUs {', '.join(map(str, sorted(devices)))}", hint="copy them all to one GPU"
        )
    return next(iter(devices)) if devices else current_device()


def _overwritten(entry: TargetEntry, prepared: PreparedArguments) -> tuple[tuple[int, int], ...]:
    """The arrays that measuring the tape writes to. Raises RefusedError where they are not all known."""
    if entry.tape_size_from != "run in place":
        return ()
    if prepared.hidden:
        raise RefusedError(
            f"the size of the gradient's tape follows from what the kernel writes, and what the pointers in "
            f"{prepared.hidden!r} lead to cannot be put back after measuring it",
            hint="give the struct as a dict of its arrays",
        )
    if prepared.overwritten is None:
        raise TypeError(prepared)
    return prepared.overwritten


def _lent_bytes(entry: TargetEntry, prepared: PreparedArguments, launch: Launch, *, gradient: bool) -> int:
    """The dynamic shared memory that the launch lends a gradient, which else has none."""
    if not (gradient and prepared.shadow_bytes) or entry.dynamic_bytes(launch.shared_bytes, derivative=True):
        return 0
    return entry.lent_bytes(prepared.shadow_bytes, launch.grid)


def _with_shared(entry: TargetEntry, prepared: PreparedArguments, launch: Launch, lent: int, *, gradient: bool) -> Call:
    """The values of the launch and its dynamic shared memory: a gradient's is twice the primal's, see the ABI."""
    count = launch.shared_bytes
    total = lent or entry.dynamic_bytes(count, derivative=gradient)
    own = (count.to_bytes(4, "little"),) if gradient and entry.dynamic_shared else ()
    return ((*prepared.values, *own) if own else prepared.values), total


def _fill(fills: Fills, stream: int) -> None:
    for address, count in fills.zeros:
        done(api().cuMemsetD8Async(address, 0, count, stream), "a shadow cannot be set to zero")
    for target, source, count in fills.copies:
        done(api().cuMemcpyDtoDAsync(target, source, count, stream), "an array cannot be copied")


def _copy_shadows_in(code: LoadedCode, prepared: PreparedArguments, stream: int) -> None:
    for shadow in prepared.variables:
        address = code.global_address(shadow.symbol)
        if shadow.view is None:
            status = api().cuMemcpyHtoDAsync(address, shadow.data, len(shadow.data), stream)
        else:
            status = api().cuMemcpyDtoDAsync(address, shadow.view.address, shadow.view.nbytes, stream)
        done(status, f"{shadow.symbol} cannot be set")


def _copy_shadows_out(code: LoadedCode, prepared: PreparedArguments, stream: int) -> None:
    for shadow in prepared.variables:
        if shadow.view is not None:
            address = code.global_address(shadow.symbol)
            status = api().cuMemcpyDtoDAsync(shadow.view.address, address, shadow.view.nbytes, stream)
            done(status, f"{shadow.symbol} cannot be read")


def _refuse_block(function: object, symbol: str, launch: Launch) -> None:
    """Raise where the block has more threads than the kernel's registers allow, which the driver does not say."""
    driver, threads = api(), prod(launch.block)
    names = driver.CUfunction_attribute
    wanted = (names.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, names.CU_FUNC_ATTRIBUTE_NUM_REGS)
    found = [driver.cuFuncGetAttribute(name, function) for name in wanted]
    if any(status != driver.CUresult.CUDA_SUCCESS for status, _ in found):
        return
    most, registers = (int(value) for _, value in found)
    if threads > most:
        raise DeviceError(
            f"{symbol} can be launched with {most} threads a block at most, not {threads}: it has {registers} "
            "registers a thread",
            hint=f"launch it with a smaller block, or say __launch_bounds__({threads}) at the kernel, by which its "
            "gradient gets no more registers than such a block has",
        )


def _too_many_blocks(symbol: str, launch: Launch, most: int) -> DeviceError:
    return DeviceError(
        f"the blocks of {symbol} wait for each other, so that all {prod(launch.grid)} have to run at once: this GPU "
        f"runs {most} of {prod(launch.block)} threads",
        hint="launch fewer blocks, each of which does more in a loop; a gradient needs more registers and twice the "
        "shared memory, and where it keeps a tape, ADGEN_TAPE_LIMIT (bytes) for all of them",
    )


def _launch(
    code: LoadedCode,
    symbol: str,
    call: Call,
    launch: Launch,
    stream: int,
    *,
    together: bool = False,
    table: ArgumentTable | None = None,
) -> None:
    """Queue a kernel; `together`: its blocks wait for each other. `table` has the values, if there is one."""
    values, dynamic = call
    kernel, table = code.kernel(symbol, prod(launch.block)), table or ArgumentTable(values)
    kernel.allow_dynamic(dynamic)
    # The driver's own calls: cuda-core's launch takes no structs by value.
    if together:
        most = resident_blocks(code, symbol, prod(launch.block), dynamic)
        if most < prod(launch.grid):
            raise _too_many_blocks(symbol, launch, most)
        extents = (*launch.grid, *launch.block)
        status = api().cuLaunchCooperativeKernel(kernel.handle, *extents, dynamic, stream, table.address)
    else:
        status = api().cuLaunchKernel(kernel.handle, *launch.grid, *launch.block, dynamic, stream, table.address, 0)
    _check(status, kernel.handle, symbol, launch)


def _check(status: tuple[Any, ...], function: object, symbol: str, launch: Launch) -> None:
    """Raise DeviceError where a launch failed."""
    if status[0] != api().CUresult.CUDA_SUCCESS:
        _refuse_block(function, symbol, launch)
        done(status, f"{symbol} cannot be launched with grid {launch.grid} and block {launch.block}")
