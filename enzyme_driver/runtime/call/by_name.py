"""What is given as a dict from names to arrays: shadows, cotangents, tangents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from enzyme_driver.errors import ArgumentError
from enzyme_driver.runtime.call.slots import Role

NONE_GIVEN: Mapping[str, object] = MappingProxyType({})


def check_by_name(given: object, role: Role) -> None:
    """Raise ArgumentError unless these are arrays by the names of parameters."""
    if not isinstance(given, Mapping):
        number = "; the cotangent of a returned number is cotangent=1.0" if role == "cotangent" else ""
        raise ArgumentError(
            f"{role}s: expected a dict from the names of parameters to arrays, got {type(given).__name__}",
            hint=f'write {role}s={{"y": array}} for a parameter y{number}',
        )
