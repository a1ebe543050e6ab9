"""Gradients that verify themselves: at the first call of a fresh compilation, against dual numbers."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_driver.errors import AdgenError, GradientMismatchError
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import flattened

if TYPE_CHECKING:
    from enzyme_driver.runtime.module import Function, Kernel
    from enzyme_driver.runtime.transforms.verify import Verdict

VERDICTS = "verdicts.json"
"""The file in an artifact's folder that says which gradients were found right, by entry and target."""

SECONDS = 10.0
"""Verifying may take so long; a witness is slower than the primal by no more than `_SLOWER`."""

_SLOWER = 200.0
_COPIES = 8
"""Of all arrays, at the most at once."""


class Guard:
    """Looks at the gradient of one entry before it is used first; `witness` compiles what it is compared with.

    `always` looks before each call, and whatever was found before.
    """

    def __init__(self, witness: Callable[[], Kernel | Function], folder: Path, *, always: bool = False) -> None:
        self._make, self._folder, self._always = witness, folder, always
        self._witness: Kernel | Function | None = None
        self._open = False

    def __call__(self, subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> None:
        """Raises GradientMismatchError where the gradient is wrong; says once on stderr why it could not be decided."""
        if self._open:
            return
        key = f"{subject.signature.symbol} on {subject.target}"
        if not self._always and key in _right(self._folder):
            self._open = True
            return
        with self._opened():
            verdict = self._verdict(subject, values, launch)
        if verdict.state == "wrong":
            raise mismatch(subject, verdict)
        if verdict.state == "unchecked":
            sys.stderr.write(f"adgen: the gradient of {subject.name} was not verified: {verdict.reason}\n")
        elif not self._always:
            _keep(self._folder, key)
        self._open = not self._always

    def _verdict(self, subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> Verdict:
        from enzyme_driver.runtime.transforms.verify import Verdict, verify

        if reason := _too_much(subject, values, launch):
            return Verdict("unchecked", reason)
        try:
            self._witness = self._witness or self._make()
        except AdgenError as problem:
            return Verdict("unchecked", problem.reason)
        return verify(subject, self._witness, values, launch)

    @contextmanager
    def _opened(self) -> Iterator[None]:
        """Calls inside are not looked at: verifying calls the gradient itself."""
        self._open = True
        try:
            yield
        finally:
            self._open = False


def mismatch(subject: Kernel | Function, verdict: Verdict) -> GradientMismatchError:
    """The error for a gradient that was found wrong."""
    worst = "; ".join(f"element {e.index} is {e.gradient:.9g}, expected {e.expected:.9g}" for e in verdict.elements)
    return GradientMismatchError(
        f"the gradient of {subject.name} on {subject.target} with respect to {verdict.parameter!r} is wrong by "
        f"{verdict.error:.2g} (tolerance {verdict.tolerance:.2g}) by dual numbers: {worst}",
        hint="do not use it, and report it with the source; `adgen check` compares with finite differences too, and "
        "--disable finds the optimisation at fault",
    )


def _too_much(subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> str:
    """Why it is left out: memory, or the time that the primal takes, times what the witness may be slower."""
    parts = [part for p, value in zip(subject.signature, values, strict=True) for _, part in flattened(p, value)]
    size = sum(int(getattr(part, "nbytes", 0)) for part in parts)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if subject.target == "openmp" and _COPIES * size > free // 2:
        return f"copies of {size} bytes of arrays would take more than half of the free memory"
    from enzyme_driver.runtime.transforms.verify import run_on_copies

    began = time.perf_counter()
    run_on_copies(subject, values, launch)
    taken = time.perf_counter() - began
    return f"it could take more than {SECONDS:.0f} s" if taken * _SLOWER > SECONDS else ""


def _right(folder: Path) -> list[str]:
    with suppress(OSError, ValueError):
        return list(json.loads((folder / VERDICTS).read_text(encoding="utf-8")))
    return []


def _keep(folder: Path, key: str) -> None:
    """An artifact that cannot be written to is verified by each process."""
    with suppress(OSError):
        text = json.dumps(sorted({*_right(folder), key}))
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as fresh:
            fresh.write(text)
        Path(fresh.name).replace(folder / VERDICTS)
