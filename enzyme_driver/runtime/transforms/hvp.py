"""Second derivatives: the tangents of a gradient, the arguments untouched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.members import assembled, with_numbers
from enzyme_driver.runtime.transforms.functional import Derivative
from enzyme_driver.runtime.transforms.jvp import Jvp
from enzyme_driver.runtime.transforms.vjp import Vjp


class Hvp:
    """The directional derivative of one vector-Jacobian product.

    `arguments` are those of the primal, `twice` those of what carries tangents through the gradient: beside the
    primal's they have its shadows and, where it returns a number, `cotangent`.
    """

    def __init__(
        self,
        arguments: Arguments,
        twice: Arguments,
        values: Sequence[object],
        cotangents: Mapping[str, object] | None,
        wrt: Iterable[str] | str | None,
        cotangent: float = 1.0,
    ) -> None:
        self._product = Vjp(arguments, values, cotangents, wrt)
        self._twice = twice
        self._values = tuple(values)
        pairs = zip(arguments.signature, values, strict=True)
        self._shadowed = tuple(zip(*((p, value) for p, value in pairs if p.has_shadow), strict=True))
        self._last = (cotangent,) if arguments.signature.returns else ()
        self.given = self._product.given

    def run(
        self, carry: Derivative, tangents: Mapping[str, object], directions: int | None, stream: int | None
    ) -> dict[str, Any]:
        """Call `carry` with copies, shadows and tangents made on `stream`; the tangents of the shadows of `wrt`."""
        shadows = map(with_numbers, *self._shadowed, self._product.fresh_shadows(stream))
        carried = Jvp(self._twice, (*self._values, *shadows, *self._last), tangents, directions)
        found = carried.run(carry, stream)
        return {name: self._of_shadow(name, found) for name in self._product.wrt}

    def _of_shadow(self, name: str, found: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """That of a whole parameter, or of what the member of a struct points to."""
        shadow = f"shadow of {name}"
        return found[shadow] if shadow in found else assembled(self._twice.signature[shadow], found)
