"""`adgen.Tape`: records launches and calls from Python, and gives the gradient through all of them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from enzyme_driver.errors import RefusedError, UsageError
from enzyme_driver.model import Signature
from enzyme_driver.runtime.backends.libraries import library_of
from enzyme_driver.runtime.backends.memory import Memory, memory_of
from enzyme_driver.runtime.call.calls import RecordedStep, Zeroing
from enzyme_driver.runtime.tape.exclusive_shadows import refuse_shared, refuse_used_before
from enzyme_driver.runtime.tape.history import History
from enzyme_driver.runtime.tape.query import GradientQuery, Number, QueryValidator, Seen, listed, seen, target_of
from enzyme_driver.runtime.tape.queues import Queues
from enzyme_driver.runtime.tape.replay import Adjoints, OneElementShadows, Shadows, active_steps, reversed_through

_recording: ContextVar[Tape | None] = ContextVar("adgen_tape", default=None)

_REASONS = {
    "spent": ("this tape has given its gradient", "tape.gradient(..., retain=True) keeps it for another one"),
    "broken": ("something failed on this tape", "record once more on a new adgen.Tape()"),
    "recording": ("the tape still records", "ask for the gradient after the `with` block"),
}


class Tape:
    """Records what kernels and functions compute inside `with`, and differentiates it as a whole.

        with adgen.Tape() as tape:
            for step in range(n):
                k[grid, block](u, v, dt)
                u, v = v, u
        d_start, d_dt = tape.gradient(u, wrt=(start, "dt"), cotangents=w)

    Before a launch overwrites an array whose content the gradient needs, that content is copied. `memory_limit` bounds
    the bytes of these copies: with it, only some states are kept, and launches between them are run again
    (binomial checkpointing). `check` compares checksums of arrays in host memory, so that a change between launches
    by anything else than a recorded launch is an error; on the GPU nothing looks.
    """

    def __init__(self, memory_limit: int | None = None, *, check: bool = True) -> None:
        self._history = History(_bytes(memory_limit), check=check)
        self._queues = None if memory_limit is None else Queues()
        self._memories: dict[int | None, Memory] = {}
        self._state = "new"
        self._recomputed = 0

    def __enter__(self) -> Self:
        if _recording.get() is not None:
            raise UsageError("a tape records already", hint="record everything on one tape")
        if self._state != "new":
            raise UsageError("this tape has recorded already", hint="make a new adgen.Tape()")
        self._state = "recording"
        self._token = _recording.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _recording.reset(self._token)
        self._state = "recorded" if error is None and self._state == "recording" else "broken"

    @property
    def launches(self) -> int:
        """How many launches and calls were recorded."""
        return len(self._history.steps)

    @property
    def kept_bytes(self) -> int:
        """The copies that are kept now."""
        return self._history.saved_bytes

    @property
    def peak_bytes(self) -> int:
        """The most that was kept at once, also while the gradient was taken."""
        return self._history.peak_bytes

    @property
    def recomputed(self) -> int:
        """How many launches the gradients so far have run again, beside the primal inside each launch's gradient."""
        return self._recomputed

    def zero(self, array: object) -> None:
        """Set an array to zero, as a recorded step."""
        found = seen(array, "the array", writable=True)
        self.record(Zeroing(target_of(array), array, found.view))

    def follow_queues(self, signature: Signature, bound: Sequence[object], *, one_order: bool) -> None:
        """Raises RefusedError where a launch that runs again would give results in another order."""
        if self._queues:
            self._queues.follow(signature, bound, one_order=one_order)

    def record(self, step: RecordedStep) -> bytes:
        """Run a step and remember it; what it returned, as bytes. Kernels and functions call this themselves."""
        if self._state != "recording":
            raise UsageError("the tape does not record", hint="launch inside `with tape:`, where nothing has failed")
        steps = self._history.steps
        if steps and steps[0].target != step.target:
            reason = f"a launch on {step.target} follows launches on {steps[0].target}"
            raise UsageError(reason, hint="use a tape of its own for each target")
        refuse_used_before(step, self._history)
        memory = step.memory(None)
        self._memories.setdefault(memory.stream, memory)
        touched = self._history.before(step, memory)
        self._state = "broken"  # until it is known to be done
        result = step.primal(None, lambda address: address)
        self._history.after(step, touched, memory)
        self._state = "recording"
        return result

    def gradient(
        self, outputs: object, wrt: object, cotangents: object = None, *, stream: object = None, retain: bool = False
    ) -> Any:  # noqa: ANN401
        """The derivatives of `outputs`, weighted with `cotangents`, with respect to `wrt`.

        `outputs`: an array that recorded launches used, a number that a recorded function returned, or a sequence of
        them; they stand for their values at the end of the recording. `cotangents`: as many arrays like the outputs;
        numbers for numbers, for which 1 is the default. `wrt`: an array that recorded launches used, the name of an
        active parameter, or a sequence of them.

        Returns a new array for each of `wrt` (a tuple where a sequence was given), of its shape and dtype: the
        derivative with respect to its value when the recording began. For a name it is a NumPy array with one value
        for each launch that has this parameter, in order. The arrays on the tape stay as they are. What was kept is
        given up, unless `retain`: a tape gives one gradient. On the GPU, all of it runs on `stream`.

        Raises ArgumentError, UsageError, RefusedError, and what the launches raise.
        """
        if self._state != "recorded" or not self.launches:
            reason, hint = _REASONS.get(self._state, ("nothing has been recorded", "launch inside `with tape:` first"))
            raise UsageError(reason, hint=hint)
        question = QueryValidator(self._history.steps, self).question(outputs, wrt, cotangents)
        results = self._answer(question, stream, retain=retain)
        return tuple(results) if listed(wrt) is wrt else results[0]

    def _answer(self, question: GradientQuery, stream: object, *, retain: bool) -> list[Any]:
        history = self._history
        memory = history.steps[0].memory(stream)
        history.verify(memory)
        memory.follow([*self._memories.values(), *self._producers(question)])
        extents = [output.extent for output, _ in question.arrays]
        active = active_steps(history, extents, question.numbers)
        refuse_shared(history, active, extents, [each.extent for each in question.wrt if isinstance(each, Seen)])
        adjoints = self._adjoints(question, memory)
        self._state = "broken"  # until it is known to be done
        self._recomputed += reversed_through(history, adjoints, active, memory, retain=retain)
        results = [self._result(each, adjoints, memory) for each in question.wrt]
        for other in self._memories.values():
            other.follow([memory])
        self._state = "recorded" if retain else "spent"
        return results

    def _producers(self, question: GradientQuery) -> list[Memory]:
        """Where the cotangents come from."""
        target = self._history.steps[0].target
        return [memory_of(target, None, [weight.view], [weight.array]) for _, weight in question.arrays]

    def _adjoints(self, question: GradientQuery, memory: Memory) -> Adjoints:
        """Zeroed shadows of everything, with the cotangents in them."""
        steps = self._history.steps
        shadows = Shadows((access for step in steps for access in step.accesses), memory)
        for output, weight in question.arrays:
            for offset, shadow, count in shadows.parts(*output.extent):
                memory.copy(shadow, weight.view.address + offset, count)
        return Adjoints(shadows, OneElementShadows(steps, memory), question.numbers)

    def _result(self, wanted: Seen | str, adjoints: Adjoints, memory: Memory) -> Any:  # noqa: ANN401
        if isinstance(wanted, str):
            return adjoints.scalars.values(wanted)
        library = library_of(wanted.array, self._history.steps[0].target)
        with library.on(memory.stream or None):
            result = library.zeros_like(wanted.array)
        home = seen(result, "the result").view.address
        for offset, shadow, count in adjoints.shadows.parts(*wanted.extent):
            memory.copy(home + offset, shadow, count)
        return result


def recording() -> Tape | None:
    """The tape that records launches now."""
    return _recording.get()


def refuse_while_recording(what: str, unknown: str, hint: str) -> None:
    """Raise UsageError where a tape records now, which would not know `unknown` of `what`."""
    if recording():
        raise UsageError(f"{what} while a tape records, which would not know {unknown}", hint=hint)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Launches inside are on no tape."""
    token = _recording.set(None)
    try:
        yield
    finally:
        _recording.reset(token)


def refuse_number(value: object, name: str) -> None:
    """Raise RefusedError for a number that the tape which records now has returned."""
    if isinstance(value, Number) and value.tape is recording():
        raise RefusedError(
            f"argument {name!r} is a number that a function on this tape returned; derivatives go through arrays only",
            hint="let the function write it to an array, or give float(number), which is a constant",
        )


def _bytes(limit: int | None) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not hasattr(limit, "__index__") or operator.index(limit) <= 0:
        raise UsageError(f"memory_limit {limit!r} is no positive number of bytes", hint="give an int, such as 2**30")
    return operator.index(limit)
