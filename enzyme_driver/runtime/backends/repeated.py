"""Launches of arguments that were prepared: what is the same for each of them is found out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from enzyme_driver.runtime.backends.driver import api, on_device
from enzyme_driver.runtime.call.geometry import Launch


class RepeatedLaunch:
    """One kernel with these arguments in `table`, and nothing beside it.

    `stream` tells the stream of the moment. Called, it says whether it has launched: not on another stream than those
    that the arrays come from, `producers`, which would have to be waited for. `check` raises where a launch failed.
    """

    def __init__(
        self,
        handle: Any,  # noqa: ANN401  (a CUkernel)
        launch: Launch,
        table: int,
        device: int,
        stream: Callable[[int], int],
        producers: frozenset[int],
        check: Callable[[tuple[Any, ...]], None],
    ) -> None:
        self._device, self._stream, self._producers, self._check = device, stream, producers, check
        self._handle, self._extents, self._table = handle, (*launch.grid, *launch.block, launch.shared_bytes), table
        self._queue = api().cuLaunchKernel

    def __call__(self) -> bool:
        stream = self._stream(self._device)
        if self._producers and self._producers != {stream}:
            return False
        with on_device(self._device):
            self._check(self._queue(self._handle, *self._extents, stream, self._table, 0))
        return True
