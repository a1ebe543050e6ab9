"""Streams of any library as driver handles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.runtime.backends.driver import api, done

DEFAULT = 0
_LEGACY = 1  # another name of the default stream


def stream_handle(stream: object, arguments: Iterable[object], device: int) -> int:
    """The handle of the given stream, else of the current stream of the library that the arrays come from."""
    return current_stream(arguments)(device) if stream is None else _given(stream)


def _given(stream: Any) -> int:  # noqa: ANN401
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, Numba
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(getattr(handle, "value", handle) or DEFAULT)
    raise ArgumentError(
        f"{type(stream).__name__} is no stream",
        hint="give a stream of cuda-core, CuPy, PyTorch or Numba, or its handle as an int",
    )


def current_stream(arguments: Iterable[object]) -> Callable[[int], int]:
    """What tells the handle of the current stream on a device, of the library that the arrays come from."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    for value in arguments:
        if torch is not None and isinstance(value, torch.Tensor):
            raw: Callable[[int], int] = torch._C._cuda_getCurrentRawStream  # noqa: SLF001  (what Triton takes)
            return raw
        if cupy is not None and isinstance(value, cupy.ndarray):
            return lambda device: int(cupy.cuda.get_current_stream(device).ptr)
    return lambda _: DEFAULT


def wait_for(producers: Iterable[int], stream: int) -> None:
    """Let `stream` wait for what is queued on the producers' streams now."""
    others = {producer for producer in producers if producer != stream}
    others = others and _plain(others) - _plain([stream])
    if not others:
        return
    driver = api()
    for producer in others:
        event = done(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING), "no event can be made")
        try:
            done(driver.cuEventRecord(event, producer), "the producer's stream cannot be used")
            done(driver.cuStreamWaitEvent(stream, event, 0), "the stream cannot wait")
        finally:
            done(driver.cuEventDestroy(event), "the event cannot be removed")


def _plain(streams: Iterable[int]) -> set[int]:
    return {DEFAULT if stream == _LEGACY else stream for stream in streams}
