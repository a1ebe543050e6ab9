"""What kernels and functions of an artifact share, and what is launched over a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Generic, NoReturn, ParamSpec, Self, TypeVar, cast

from enzyme_driver.errors import Location, RefusedError, UsageError
from enzyme_driver.model import (
    Entry,
    Mode,
    Refusal,
    Signature,
    Target,
    TargetEntry,
)
from enzyme_driver.runtime.backends.host import HostBackend
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.arrivals import have_one_order, refused
from enzyme_driver.runtime.call.calls import Backend, Call
from enzyme_driver.runtime.call.geometry import Launch, launch_of
from enzyme_driver.runtime.call.launcher import Launcher, PreparedLaunch
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.quick import Quick
from enzyme_driver.runtime.tape.record import Tape, recording, refuse_number, refuse_while_recording, unrecorded

if TYPE_CHECKING:
    from enzyme_driver.runtime.function import Function
    from enzyme_driver.runtime.kernel import Kernel
    from enzyme_driver.runtime.transforms.guard import Guard
    from enzyme_driver.runtime.transforms.narrower import Narrower

P = ParamSpec("P")
R = TypeVar("R")
Shadows = Mapping[str, object]
_WORDS: Mapping[Mode, str] = {"reverse": "the gradient", "forward": "forward mode", "second": "the second derivative"}
Prepare = Callable[[Sequence[object], Shadows], PreparedArguments]


class Launched(partial[R]):
    """A launch that only waits for its arguments; `Launcher` can also be prepared with them."""

    def prepare(self, *args: object, **named: object) -> NoReturn:
        del args, named
        raise UsageError(
            "what makes new arrays at each call cannot be prepared",
            hint="prepare k[grid, block] or k.gradient[grid, block], which write to arrays of yours",
        )


class Launchable(Generic[R]):
    """Something that needs `[grid, block]`, `[grid, block, stream]` or `[grid, block, stream, shared_bytes]`."""

    def __init__(self, run: Callable[..., R], signature: Signature, what: str) -> None:
        self._run = run
        self._signature = signature
        self._what = what

    def __getitem__(self, key: object) -> Callable[..., R]:
        return Launched(self._run, launch_of(key, self._signature))

    @property
    def _name(self) -> str:
        return f"{self._signature.name}.{self._what}" if self._what else self._signature.name

    def __call__(self, *args: object, **named: object) -> R:
        del args, named
        raise UsageError(f"{self._name} is launched over a grid", hint=f"write {self._name}[grid, block](...)")

    def __repr__(self) -> str:
        return f"<{self._name}[grid, block](...)>"


class Preparable(Launchable[None]):
    """The kernel itself and `k.gradient`, of which a launch can also be prepared."""

    def __init__(
        self, run: Callable[..., None], signature: Signature, what: str, prepare: Callable[..., PreparedLaunch]
    ) -> None:
        super().__init__(run, signature, what)
        self._prepare = prepare

    def __getitem__(self, key: object) -> Launcher:
        return Launcher(launch_of(key, self._signature), self._run, self._prepare)


class CompiledEntry:
    """What kernels and functions share."""

    def __init__(self, entry: Entry, backend: Backend) -> None:
        self._entry = entry
        self._backend = backend
        self._arguments = Arguments(entry.signature, backend.target)
        self._tangent_arguments = Arguments(entry.signature.forward, backend.target)
        self._quick = Quick(entry.signature, backend)
        self.target = backend.target
        self.guard: Guard | None = None
        """What looks at the gradient before it is used first; None where nothing does."""
        self.witness: Callable[[], Kernel | Function] | None = None
        """Compiles what carries dual numbers through the primal; None without a source."""
        self.narrower: Narrower[Kernel | Function] | None = None
        """Compiles gradients by some of the parameters; None without a source."""

    def verify(self, values: tuple[object, ...], launch: Launch | None) -> None:
        """Look at the gradient with these arguments, if there is a guard that has not seen enough."""
        if self.guard and not self.guard.is_open:
            with unrecorded():
                self.guard(cast("Kernel | Function", self), values, launch)

    @property
    def _is_verified(self) -> bool:
        """Whether nothing is left to be looked at."""
        return self.guard is None or self.guard.is_open

    @cached_property
    def _twice_arguments(self) -> Arguments:
        return Arguments(self._entry.signature.gradient.forward, self.target)

    @property
    def signature(self) -> Signature:
        return self._entry.signature

    @property
    def name(self) -> str:
        return self._entry.signature.name

    def __repr__(self) -> str:
        return f"<adgen {self.signature.kind} {self.signature.spelled} on {self.target}>"

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: it is code, which nobody changes."""
        return self

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"{self.signature.spelled} is compiled code, which cannot be pickled",
            hint="compile or load it in the process that calls it, where it comes from the cache; operators can be",
        )

    def _primal_entry(self) -> TargetEntry:
        return self._primal

    @cached_property
    def _primal(self) -> TargetEntry:
        return primal_of(self._entry, self.target)

    def _gradient_entry(self) -> TargetEntry:
        entry = self._reverse
        self._refuse_on_tape("a gradient")
        return entry

    @cached_property
    def _reverse(self) -> TargetEntry:
        return derivative_of(self._entry, self.target, "reverse")

    def _forward_entry(self) -> TargetEntry:
        entry = derivative_of(self._entry, self.target, "forward")
        self._refuse_on_tape("a jvp")
        return entry

    @property
    def binary(self) -> str:
        """What tells the compiled code, and the GPU that runs it, from others."""
        return self._backend.binary

    @property
    def free_bytes(self) -> int:
        """Of the memory that its arrays lie in."""
        return self._backend.free_bytes

    def is_capturing(self, values: tuple[object, ...], launch: Launch) -> bool:
        """Whether a launch now goes into a CUDA graph."""
        return self._backend.is_capturing(launch, self._arguments.primal(values))

    @property
    def kept_shadows(self) -> tuple[str, ...]:
        """The parameters whose shadows are known to be the same after a gradient as before; not known on the host."""
        entry = self._entry.targets.get(self.target)
        return entry.kept_shadows if entry else ()

    @property
    def gradient_refusal(self) -> str:
        """Why it has no gradient on this target; empty where it has one."""
        entry = self._entry.targets.get(self.target)
        refusal = entry and (entry.primal_refused or entry.gradient_refused)
        return refusal.reason if refusal else ""

    @property
    def has_forward(self) -> bool:
        """Whether it was compiled with forward mode, and not refused in it."""
        entry = self._entry.forward.get(self.target)
        return entry is not None and entry.gradient_refused is None

    def _second_entry(self) -> TargetEntry:
        self._gradient_entry()
        return derivative_of(self._entry, self.target, "second")

    def _refuse_on_tape(self, what: str) -> None:
        if recording() is None:
            return
        refuse_while_recording(f"{what} of {self.name}", "what it writes", "take derivatives after the `with` block")

    def _has_one_order(self, launch: Launch | None) -> bool:
        threads = self._backend.threads if isinstance(self._backend, HostBackend) else None
        return have_one_order(launch, self.target, threads)

    def _refuse_unordered(self, launch: Launch | None, what: str) -> None:
        if self.signature.unordered and not self._has_one_order(launch):
            raise refused(self.signature, what)

    def _recorded(self, tape: Tape, bound: tuple[object, ...], launch: Launch | None) -> bytes:
        """Run it on the tape; what it returned."""
        for variable in self.signature.variables:
            if variable.has_shadow or variable.dtype.has_pointers:
                what = "an active variable" if variable.has_shadow else "a variable that holds pointers"
                raise RefusedError(
                    f"{self.name} on a tape: {variable.name!r} is {what}, which a tape cannot follow",
                    hint="pass it as a parameter of the kernel",
                )
        self._refuse_unordered(launch, "a tape runs it again for its gradient")
        tape.follow_queues(self.signature, bound, one_order=self._has_one_order(launch))
        for parameter, value in zip(self.signature, bound, strict=True):
            refuse_number(value, parameter.name)
        with unrecorded():
            entry = self._gradient_entry() if self.signature.shadowed else self._primal_entry()
        if self.signature.shadowed:
            self.verify(bound, launch)
        values = self._arguments.recorded(bound)
        return tape.record(Call(self.signature, entry, self._backend, launch, values))


def primal_of(entry: Entry, target: Target) -> TargetEntry:
    """Raises RefusedError with adgen's reason where there is none on this target."""
    name, found = entry.signature.name, entry.targets.get(target)
    if found is None:
        raise RefusedError(f"{name} was not compiled for {target}", hint=f"compile it: -t {target}")
    if found.primal_refused:
        raise refusal_error(name, found.primal_refused)
    return found


def derivative_of(entry: Entry, target: Target, mode: Mode) -> TargetEntry:
    """The same of a derivative; UsageError where it was not asked for."""
    primal_of(entry, target)
    made = {"reverse": entry.targets, "forward": entry.forward, "second": entry.second}[mode]
    name, found = entry.signature.name, made.get(target)
    if found is None:
        raise UsageError(
            f"{name} was compiled without {'second derivatives' if mode == 'second' else 'forward mode'}",
            hint=f'compile it with modes=["{mode}"] (adgen compile --mode {mode})',
        )
    if found.gradient_refused:
        raise refusal_error(f"{_WORDS[mode]} of {name}", found.gradient_refused)
    return found


def refusal_error(what: str, refusal: Refusal) -> RefusedError:
    """With the place in the source and the way out that a compilation has recorded."""
    location = Location(refusal.file, refusal.line) if refusal.file else None
    return RefusedError(f"{what}: {refusal.reason}", hint=refusal.hint, location=location)
