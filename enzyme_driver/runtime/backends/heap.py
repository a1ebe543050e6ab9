"""The device's malloc heap, which some gradients draw from: its size, and whether it ran out. And their stack."""

from __future__ import annotations

from enzyme_driver.errors import DeviceError
from enzyme_driver.runtime.backends.cubins import LoadedCode
from enzyme_driver.runtime.backends.driver import api, done

EXHAUSTED = "adgen_heap_exhausted"
STACK_BYTES = 8192
"""Of a thread whose gradient calls itself: how much it needs is not known, and the driver's 1,024 are soon used up."""
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


def deepen_stack() -> None:
    """Of the current context; it takes memory where a kernel calls itself. A larger limit of the user's stays."""
    driver = api()
    limit = driver.CUlimit.CU_LIMIT_STACK_SIZE
    if int(done(driver.cuCtxGetLimit(limit), "the stack's size is not known")) < STACK_BYTES:
        done(driver.cuCtxSetLimit(limit, STACK_BYTES), f"no stack of {STACK_BYTES} bytes can be had")


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
