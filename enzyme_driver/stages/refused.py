"""Refusals as data: what the manifest keeps, and what is raised when a refused entry is used."""

from __future__ import annotations

from enzyme_driver.errors import AdgenError
from enzyme_driver.model import Refusal, Signature
from enzyme_driver.stages.plan import WITHOUT_DERIVATIVE


def as_refusal(error: AdgenError | None, entry: Signature) -> Refusal:
    """The reason why an entry has no gradient (or no primal); without an error, because nothing is differentiated."""
    if error is None:
        given = [each.dtype.pointee or each.dtype for each in entry if not each.is_result]
        floats = any(dtype.has_floats and not dtype.name.startswith(WITHOUT_DERIVATIVE) for dtype in given)
        hint = (
            "give a scalar activity='active', or leave 'const' out"
            if floats
            else "there are derivatives of floating point alone, and its parameters hold none; leave it out with -k"
        )
        return Refusal(f"{entry.name} has no parameter to differentiate", hint, entry.file, entry.line)
    where = error.location
    return Refusal(error.reason, error.hint, where.file if where else entry.file, where.line if where else entry.line)
