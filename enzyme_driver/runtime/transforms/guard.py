"""Gradients that verify themselves: at the first call of a fresh compilation, against dual numbers."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_driver.errors import AdgenError, DataRaceError, GradientMismatchError
from enzyme_driver.runtime.backends.host import available_bytes
from enzyme_driver.runtime.backends.limits import Race, RaceKind
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.members import flattened

if TYPE_CHECKING:
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.transforms.verdict import Verdict

VERDICTS = "verdicts.json"
"""The file in an artifact's folder that says which gradients were found right, or why they have no witness."""

RIGHT = "right"
TRIES = 3
"""So many calls are looked at where their arguments do not decide."""

_COPIES = 8
"""Of all arrays with numbers of floating point, at the most at once."""

_verifying: ContextVar[bool] = ContextVar("verifying", default=False)
"""Whether a gradient is called in order to be verified."""


class Guard:
    """Looks at the gradient of one entry before it is used first; `witness` compiles what it is compared with.

    `always` looks before each call, and whatever was found before. Where it was `asked` for, everything that was not
    verified is said on stderr, else only what may tell of a fault or could be done otherwise. `repeated` gives the
    command that finds the cause with some arguments.
    """

    def __init__(
        self,
        witness: Callable[[], Kernel | Function],
        folder: Path,
        *,
        always: bool = False,
        asked: bool = True,
        repeated: Callable[[tuple[object, ...], Launch | None], str] | None = None,
    ) -> None:
        self._make, self._folder, self._always, self._asked, self._repeated = witness, folder, always, asked, repeated
        self._witness: Kernel | Function | None = None
        self._lock = threading.Lock()
        self.is_open = False
        """Whether no call is looked at any more."""
        self._tries = 0

    def __call__(self, subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> None:
        """Raises GradientMismatchError where the gradient is wrong, DataRaceError where the primal has none.

        Says once on stderr why it could not be decided.
        """
        if self.is_open or _verifying.get() or _is_capturing(subject, values, launch):
            return
        with self._lock, _verification():
            self._look(subject, values, launch)

    def _look(self, subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> None:
        if self.is_open:  # another thread has looked meanwhile
            return None
        key = f"{subject.signature.symbol} on {subject.target} {subject.binary}"
        known = None if self._always else _known(self._folder).get(key)
        if known is not None:
            self.is_open = True
            return self._say(subject, known, notable=False)
        verdict = self._verdict(subject, values, launch)
        if verdict.state == "wrong":
            raise mismatch(subject, verdict, self._repeated(values, launch) if self._repeated else "adgen bisect")
        if verdict.race:
            raise raced(subject, verdict, verdict.race)
        self._tries += 1
        self.is_open = not self._always and (not verdict.depends or self._tries >= TRIES)
        if verdict.state == "unchecked" and (self.is_open or self._always):
            self._say(subject, verdict.reason, notable=verdict.notable)
        if verdict.blocks:
            of = f"the first {verdict.blocks} blocks, as many as {verdict.seconds:g} s are enough for"
            sys.stderr.write(f"adgen: the gradient of {subject.name} was verified on {of}\n")
        if not self._always and (verdict.state == RIGHT or verdict.lasting):
            _keep(self._folder, key, RIGHT if verdict.state == RIGHT else verdict.reason)
        return None

    def _say(self, subject: Kernel | Function, reason: str, *, notable: bool) -> None:
        if reason != RIGHT and (notable or self._asked):
            sys.stderr.write(f"adgen: the gradient of {subject.name} was not verified: {reason}\n")

    def _verdict(self, subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> Verdict:
        """A call that is right must not fail because it is looked at."""
        from enzyme_driver.runtime.transforms.verdict import Verdict
        from enzyme_driver.runtime.transforms.verify import verify

        if reason := _too_large(subject, values):
            return Verdict("unchecked", reason, notable=True)
        try:
            self._witness = self._witness or self._make()
        except AdgenError as problem:
            return Verdict("unchecked", problem.reason, lasting=True)
        try:
            return verify(subject, self._witness, values, launch)
        except AdgenError as problem:  # the call itself says the same, or can do without
            return Verdict("unchecked", problem.reason)
        except Exception as problem:  # noqa: BLE001  (of any library that arrays come from)
            return Verdict("unchecked", f"{type(problem).__name__}: {problem}", notable=True)


@contextmanager
def _verification() -> Iterator[None]:
    """Calls inside are not looked at: verifying calls the gradient itself."""
    token = _verifying.set(True)
    try:
        yield
    finally:
        _verifying.reset(token)


def mismatch(subject: Kernel | Function, verdict: Verdict, bisect: str) -> GradientMismatchError:
    """The error for a gradient that was found wrong."""
    worst = "; ".join(f"element {e.index} is {e.gradient:.9g}, expected {e.expected:.9g}" for e in verdict.elements)
    said = "; ".join(filter(None, (worst, verdict.reason)))
    what = f"the gradient of {subject.name} on {subject.target} with respect to {verdict.parameter!r}"
    witness = "by dual numbers"
    if verdict.result:
        whose = "" if verdict.result == "primal" else "the gradient of "
        what = f"what {whose}{subject.name} on {subject.target} computes for {verdict.parameter!r}"
        witness = f"by {'the code before it was optimised' if verdict.result == 'primal' else 'the primal'}"
    return GradientMismatchError(
        f"{what} is wrong by {verdict.error:.2g} (tolerance {verdict.tolerance:.2g}) {witness}"
        f"{': ' if said else ''}{said}",
        hint=f"do not use it, and report it with the source; the optimisation at fault is found by\n  {bisect}\n  and "
        '`adgen check` compares with finite differences too; verify="never" (ADGEN_VERIFY) returns it all the same',
    )


_WORDS: Mapping[RaceKind, str] = {
    "different stores": "stores another value to an element of {what} than {other} (line {line})",
    "read of a store": "reads an element of {what} that {other} stores to (line {line})",
    "store after a read": "stores to an element of {what} that {other} reads (line {line})",
}


def raced(subject: Kernel | Function, verdict: Verdict, race: Race) -> DataRaceError:
    """The error for a primal whose threads race."""
    (block, thread), (block_before, thread_before) = race.thread, race.thread_before
    other = f"thread {thread_before}" + ("" if block == block_before else f" of block {block_before}")
    what = repr(verdict.parameter) if verdict.parameter else "shared memory or a variable"
    words = _WORDS[race.kind].format(what=what, other=other, line=race.before.line)
    barrier = "put __syncthreads() or __syncwarp() between them" if block == block_before else "use two launches"
    return DataRaceError(
        f"{subject.name} has a race: thread {thread} of block {block} {words}, and nothing says which comes first",
        hint=f'{barrier}, or let one thread store; verify="never" (ADGEN_VERIFY) takes the gradient all the same',
        location=race.where,
    )


def _is_capturing(subject: Kernel | Function, values: tuple[object, ...], launch: Launch | None) -> bool:
    """What goes into a CUDA graph runs later."""
    return subject.target == "cuda" and launch is not None and subject.is_capturing(values, launch)


def _too_large(subject: Kernel | Function, values: tuple[object, ...]) -> str:
    """Why there is no memory for it; empty where there is."""
    pairs = zip(subject.signature, values, strict=True)
    parts = [part for p, value in pairs for each, part in flattened(p, value) if each.has_shadow]
    size = sum(int(getattr(part, "nbytes", 0)) for part in parts)
    free = min(subject.free_bytes, available_bytes())
    if _COPIES * size <= free // 2:
        return ""
    return f"copies of its arrays would take more than half of the free memory ({_COPIES} times {size} of {free} bytes)"


def _known(folder: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        found = json.loads((folder / VERDICTS).read_text(encoding="utf-8"))
        return dict(found) if isinstance(found, dict) else {}
    return {}


def _keep(folder: Path, key: str, found: str) -> None:
    """An artifact that cannot be written to is verified by each process."""
    with suppress(OSError):
        text = json.dumps({**_known(folder), key: found}, sort_keys=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as fresh:
            fresh.write(text)
        Path(fresh.name).replace(folder / VERDICTS)
