"""Which launch of an operator is the fastest: measured once for each kernel, machine and size, and remembered."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from math import inf, prod
from pathlib import Path
from statistics import median

from filelock import FileLock

from enzyme_driver.errors import DeviceError
from enzyme_driver.settings import Settings
from enzyme_driver.tensor.devices import Device
from enzyme_driver.tensor.launches import Launch

RUNS = 3
SMALL_WORK = 4096
"""Elements below which nothing is measured: a call costs more than its work."""

Run = Callable[[Launch], None]


class BlockTable:
    """The table of a user, a file of JSON: {operator: index of the launch among its choices}."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, int] = self._read()

    def best(self, what: str, device: Device, extents: tuple[int, ...], choices: Sequence[Launch], run: Run) -> Launch:
        """The launch for data of that size. `run` runs one, so that it can be timed."""
        if len(choices) == 1 or prod(extents) < SMALL_WORK:
            several = len({choice.kernel for choice in choices}) > 1  # from small blocks to large ones
            return choices[0 if several else len(choices) // 2]
        key = f"{device.model} {what} {'x'.join(str(extent.bit_length()) for extent in extents)}"
        if self._known.get(key, len(choices)) >= len(choices):
            self._remember(key, _fastest(device, choices, run))
        return choices[self._known[key]]

    def _read(self) -> dict[str, int]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(data, dict):
            return {}
        return {key: value for key, value in data.items() if isinstance(value, int) and value >= 0}

    def _remember(self, key: str, index: int) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._path.with_suffix(".lock")):
            self._known = {**self._read(), **self._known, key: index}
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps(self._known, indent=1, sort_keys=True), encoding="utf-8")
            fresh.replace(self._path)


def _fastest(device: Device, choices: Sequence[Launch], run: Run) -> int:
    def seconds(launch: Launch) -> float:
        times = []
        for _ in range(RUNS + 1):
            device.synchronize()
            started = time.perf_counter()
            run(launch)
            device.synchronize()
            times.append(time.perf_counter() - started)
        return median(times[1:])

    times = []
    for launch in choices:
        try:
            times.append(seconds(launch))
        except DeviceError:  # more shared memory than the GPU has
            if not launch.shared or launch is min(choices, key=lambda each: each.shared):
                raise
            times.append(inf)
    return times.index(min(times))


@cache
def table() -> BlockTable:
    """The user's table, in adgen's cache folder."""
    return BlockTable(Settings.from_environment().cache_dir / "operators.json")
