"""Tables of addresses in a target's memory, for parameters that point to pointers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from enzyme_driver.model import Target
from enzyme_driver.runtime.call.arrays import ArrayView

_MOST = 1024
"""So many tables stay in the GPU's memory: what was launched may still read them, and may be launched again."""


@dataclass(frozen=True)
class Table:
    """The address of the first pointer, and what the memory lives with."""

    address: int
    owner: object


def table_of(addresses: Sequence[int], rows: Sequence[ArrayView], target: Target) -> Table:
    """A table of these addresses, where kernels on `target` read it; `rows` are the arrays that it leads to."""
    if target == "openmp":
        held = np.array([*addresses, 0], np.uint64)
        return Table(held.ctypes.data, held)
    from enzyme_driver.runtime.backends.cuda import device_of_views

    return _DEVICE_TABLES.of(tuple(addresses), device_of_views(rows))


class DeviceTables:
    """The tables in the memory of GPUs: nobody writes to them, so that equal ones are one."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[int, tuple[int, ...]], Table] = OrderedDict()
        self._lock = Lock()

    def of(self, addresses: tuple[int, ...], device: int) -> Table:
        """That of these addresses. A new one is there when the call returns."""
        with self._lock:
            found = self._made.get((device, addresses)) or _made(addresses, device)
            self._made[device, addresses] = found
            self._made.move_to_end((device, addresses))
            if len(self._made) > _MOST:
                self._drop_oldest()
        return found

    def _drop_oldest(self) -> None:
        """Once no launch reads it any more."""
        from enzyme_driver.runtime.backends.driver import api, done, on_device

        (device, _), _ = self._made.popitem(last=False)
        with on_device(device):
            done(api().cuCtxSynchronize(), "the GPU cannot be waited for")


def _made(addresses: tuple[int, ...], device: int) -> Table:
    from enzyme_driver.runtime.backends.buffers import DeviceArray
    from enzyme_driver.runtime.backends.driver import api, done, on_device

    held = np.array([*addresses, 0], np.uint64)
    array = DeviceArray(held.shape, held.dtype, device)
    with on_device(device):
        done(api().cuCtxSynchronize(), "the GPU cannot be waited for")  # before that the memory may not be there
        done(api().cuMemcpyHtoD(array.address, held.ctypes.data, held.nbytes), "a table of pointers cannot be copied")
    return Table(array.address, array)


_DEVICE_TABLES = DeviceTables()
