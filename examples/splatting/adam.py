"""The optimiser of the examples that learn a scene."""

from __future__ import annotations

from types import ModuleType
from typing import Any

Arrays = dict[str, Any]


class Adam:
    """Kingma and Ba, 2015, with a rate for each array."""

    def __init__(self, xp: ModuleType, begin: Arrays) -> None:
        self._xp, self._step = xp, 0
        self._moments = {name: (xp.zeros_like(value), xp.zeros_like(value)) for name, value in begin.items()}

    def move(self, arrays: Arrays, gradient: Arrays, rates: dict[str, float]) -> None:
        self._step += 1
        for name, rate in rates.items():
            first, second = self._moments[name]
            first += 0.1 * (gradient[name] - first)
            second += 0.001 * (gradient[name] ** 2 - second)
            corrected = second / (1 - 0.999**self._step)
            arrays[name] -= (rate / (1 - 0.9**self._step)) * first / (self._xp.sqrt(corrected) + 1e-15)
