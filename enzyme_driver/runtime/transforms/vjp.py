"""The functional form of a gradient: new arrays out, the arguments untouched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Parameter
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.members import members
from enzyme_driver.runtime.call.slots import Role
from enzyme_driver.runtime.transforms.functional import Derivative, FunctionalCall


class Vjp(FunctionalCall):
    """One vector-Jacobian product: its arguments checked, ready to be run."""

    role: Role = "cotangent"

    def __init__(
        self,
        arguments: Arguments,
        values: Sequence[object],
        cotangents: Mapping[str, object] | None,
        wrt: Iterable[str] | str | None,
        directions: int | None = None,
    ) -> None:
        super().__init__(arguments, values, {} if cotangents is None else cotangents, directions)
        self.wrt = _wrt(arguments, wrt, self._given)
        for name in self._seeds:
            first = self._first(name)
            if name in self._flat:  # else a variable
                arguments.check_cotangent(self._flat[name][0], first, self._flat[name][1])
        self.check_rows(self.wrt)
        for name in self.wrt:
            if name in self._flat and self._flat[name][1] is None:
                raise ArgumentError(f"wrt {name!r}: it is None", hint="give it an array, or leave it out of wrt")

    def run(self, gradient: Derivative, stream: int | None) -> dict[str, Any]:
        """Call `gradient` with copies and fresh shadows made on `stream`; the shadows of `wrt`."""
        shadows = self._shadows_after(gradient, stream)
        return {name: self._of(name, shadows) for name in self.wrt}


def _wrt(arguments: Arguments, wrt: Iterable[str] | str | None, values: Mapping[str, object]) -> tuple[str, ...]:
    if wrt is None:
        shadowed = [p for p in arguments.signature.shadowed if values[p.name] is not None]
        variables = (v.name for v in arguments.signature.variables if v.has_shadow)
        return (*(p.name for p in shadowed if (p.reads if p.is_pointer else _holds_inputs(p))), *variables)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    arguments.check_shadow_names(names, "wrt")
    return names


def _holds_inputs(parameter: Parameter) -> bool:
    """Whether there is a derivative with respect to it: a vector of integers has none."""
    return not parameter.is_result and (
        parameter.form != "struct"
        or parameter.activity == "active"
        or any(member.parameter.has_shadow for member in members(parameter))
    )
