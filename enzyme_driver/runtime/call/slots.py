"""The places that a call fills, in the words of error messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from enzyme_driver.errors import ArgumentError
from enzyme_driver.model import Parameter, Signature, Target
from enzyme_driver.runtime.call.layouts import Layout, alignment, declared_layout

Role = Literal["argument", "shadow", "cotangent", "tangent", "variable"]


@dataclass(frozen=True)
class Slot:
    """One array or value that a call needs: the argument of a parameter, its shadow, its cotangent or its tangent."""

    signature: Signature
    parameter: Parameter
    role: Role
    target: Target
    writable: bool

    @cached_property
    def layout(self) -> Layout:
        """That of an element."""
        return declared_layout(self.parameter.dtype)

    @cached_property
    def alignment(self) -> int:
        """The address of an array must be a multiple of this many bytes."""
        return alignment(self.parameter.dtype)

    @cached_property
    def one(self) -> bool:
        """Whether an array for it holds one element."""
        return self.parameter.reference or not self.parameter.is_pointer

    @property
    def label(self) -> str:
        return f"{self.role} {self.parameter.name!r} of {self.signature.spelled}"

    @property
    def expected(self) -> str:
        """What has to be given, in words."""
        parameter = self.parameter
        by_value = not parameter.shadow_is_pointer or (self.role == "argument" and not parameter.is_pointer)
        if by_value:
            return f"a value of type {parameter.dtype}"
        where = "GPU" if self.target == "cuda" else "host"
        if parameter.is_table:
            return f"a list of {parameter.dtype.pointee} arrays in {where} memory, one a row"
        count = "one-element " if self.one else ""
        access = "writable, " if self.writable else ""
        return f"a {access}C-contiguous {count}{parameter.dtype} array in {where} memory"

    def wrong(self, got: str, hint: str) -> ArgumentError:
        return ArgumentError(f"{self.label}: expected {self.expected}, got {got}", hint=hint)


def argument_slot(signature: Signature, parameter: Parameter, target: Target) -> Slot:
    by_parts = parameter.form == "struct"  # which decide for themselves
    return Slot(signature, parameter, "argument", target, writable=by_parts or may_be_written(parameter))


def written(parameter: Parameter) -> bool:
    """Whether the primal may store to what the parameter points to."""
    return parameter.is_pointer and parameter.writes and not parameter.const


def may_be_written(parameter: Parameter) -> bool:
    """Whether the primal may store to what the parameter, or what a row of the table, points to."""
    return parameter.is_table or written(parameter)
