"""The device's malloc heap, which some gradients draw from: its size, and whether it ran out."""

from __future__ import annotations

from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.backends.cubins import LoadedCode
from enzyme_driver.runtime.backends.driver import api, done

EXHAUSTED = "adgen_heap_exhausted"
_sized: set[int] = set()


def size_heap(count: int) -> None:
    """Set the heap of the current context, once; the driver refuses after the first kernel that used it."""
    driver = api()
    context = int(done(driver.cuCtxGetCurrent(), "the current context cannot be read"))
    if context in _sized:
        return
    status, *_ = driver.cuCtxSetLimit(driver.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, count)
    if status != driver.CUresult.CUDA_ERROR_INVALID_VALUE:
        done((status,), f"no device heap of {count} bytes can be had", _hint(count))
    _sized.add(context)


def check_heap(code: LoadedCode, stream: int) -> None:
    """Wait for the stream; raise DeviceError where a launch on it ran out of heap, and forget that it did."""
    driver = api()
    if not code.lowers_flag(EXHAUSTED, stream):
        return
    size = int(done(driver.cuCtxGetLimit(driver.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE), "the heap's size is not known"))
    raise DeviceError(
        f"the gradient needs more device heap than {size} bytes; the shadows are worthless now", hint=_hint(size)
    )


def _hint(size: int) -> str:
    return f"set ADGEN_DEVICE_HEAP to the bytes that it may take (now {size}), and start a new process"
