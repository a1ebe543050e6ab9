"""What remains where threads choose by atomics, such as a maximum: a derivative has to know it from its begin on.

The derivative itself runs before, with copies of all that it writes and shadows of zeros: the primal's own code may
round otherwise, and nobody's value would be the one that remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enzyme_driver.runtime.backends.memory import memory_of
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.slots import Role
from enzyme_driver.runtime.transforms.functional import Derivative, FunctionalCall


class Settling(FunctionalCall):
    """One call that leaves in the arrays of its arguments what remains, and everything else as it is."""

    role: Role = "shadow"

    def __init__(self, arguments: Arguments, values: Sequence[object]) -> None:
        super().__init__(arguments, values, {}, None)
        self._values = values

    def run(self, derivative: Derivative, stream: int | None) -> None:
        """Call `derivative` on copies, in the order of `stream`."""

        def once(copies: Sequence[object], shadows: Mapping[str, object]) -> None:
            derivative(copies, shadows)
            ran = self._arguments.primal(copies)
            memory = memory_of(self._arguments.target, stream, ran.views, ran.keep)
            for to, made in self._arguments.chosen(self._values, copies):
                memory.copy(to.address, made.address, to.nbytes)

        self._shadows_after(once, stream)
