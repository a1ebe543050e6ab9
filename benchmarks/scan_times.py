"""Milliseconds of what runs on a GPU: launched one by one, and as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Row = dict[str, Any]


def times(action: Callable[[], object], *, repeats: int = 7, warm: int = 2) -> float:
    """Milliseconds between events on the current stream."""
    import cupy

    stream = cupy.cuda.get_current_stream()
    for _ in range(warm):
        action()
    found = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        stream.synchronize()
        begin.record(stream)
        action()
        end.record(stream)
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(found))


def graph(action: Callable[[], object], *, repeats: int = 7) -> float:
    """The same of a CUDA graph of the action."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        action()
        action()
        stream.synchronize()
        stream.begin_capture()
        action()
        captured = stream.end_capture()
        return times(lambda: captured.launch(stream), repeats=repeats)
