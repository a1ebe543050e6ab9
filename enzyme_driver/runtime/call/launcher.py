"""Launches over a grid: of arguments that are checked each time, and of those that were checked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from enzyme_driver.errors import UsageError
from enzyme_driver.model import DataType, TargetEntry
from enzyme_driver.runtime.call.arrays import address_now
from enzyme_driver.runtime.call.calls import Backend
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.call.values import returned
from enzyme_driver.runtime.tape.record import recording, refuse_while_recording

_ONCE = Launch((1, 1, 1), (1, 1, 1))


class PreparedLaunch:
    """`launch = k[grid, block].prepare(*args)`: each `launch()` runs the kernel on these arguments.

    Arrays are held, and may have other contents each time; numbers and structs are as they were given. On a GPU a
    launch goes to the given stream, or to the current one of the arrays' library at that time. Raises UsageError where
    an array has got other memory since, and on a tape, as well as what a launch raises.
    """

    def __init__(
        self,
        name: str,
        backend: Backend,
        entry: TargetEntry,
        prepared: PreparedArguments,
        launch: Launch,
        *,
        gradient: bool,
        before: Callable[[], None] | None = None,
    ) -> None:
        """`before` is called before the first launch."""
        self._before = before
        self._name = name
        self._backend = backend
        self._entry = entry
        self._prepared = prepared
        self._launch = launch
        self._gradient = gradient
        followed = f"write {name}[grid, block](...), which the tape can follow"
        self._instead = "take derivatives after the `with` block" if gradient else followed
        self._addresses = [(ask, ask()) for ask in map(address_now, prepared.keep) if ask]
        self._again: Callable[[], bool] | None = None
        """What launches once more, known after the first time."""

    def __call__(self) -> None:
        self._look()
        if self._again and self._again():
            return
        self._backend.launch(self._entry, self._prepared, self._launch, gradient=self._gradient)
        if self._again is None:
            self._again = self._backend.repeated(self._entry, self._prepared, self._launch, gradient=self._gradient)

    def _look(self) -> None:
        """Raise where it cannot be run now."""
        if recording() is not None:
            refuse_while_recording(f"a prepared launch of {self._name}", "what it writes", self._instead)
        for ask, address in self._addresses:
            if ask() != address:
                raise UsageError(
                    f"an array that a launch of {self._name} was prepared with has other memory now",
                    hint="prepare it anew, or change what is in an array and not the array",
                )
        if self._before:
            self._before()
            self._before = None

    def __repr__(self) -> str:
        return f"<prepared {self._name}[{self._launch.grid}, {self._launch.block}]>"


class PreparedCall(PreparedLaunch):
    """`call = f.prepare(*args)`: each `call()` calls the C++ function on these arguments, as `PreparedLaunch` does."""

    def __init__(
        self,
        name: str,
        backend: Backend,
        entry: TargetEntry,
        prepared: PreparedArguments,
        returns: DataType | None,
        *,
        gradient: bool,
        before: Callable[[], None] | None = None,
        made: Callable[[], object] | None = None,
    ) -> None:
        """`made` is called behind each call, and makes what this returns."""
        super().__init__(name, backend, entry, prepared, _ONCE, gradient=gradient, before=before)
        self._returns = returns
        self._made = made
        self._instead = "take derivatives after the `with` block" if gradient else f"write {name}(...)"

    def __call__(self) -> Any:  # noqa: ANN401  (the returned number, None for void and gradients)
        self._look()
        kind = self._returns
        data = self._backend.call(self._entry, self._prepared, kind.size if kind else 0, gradient=self._gradient)
        if self._made:
            return self._made()
        return returned(data, kind) if kind else None

    def __repr__(self) -> str:
        return f"<prepared {self._name}>"


class Launcher:
    """`k[grid, block]` and `k.gradient[grid, block]`: called with arguments, or prepared with them for many calls."""

    def __init__(self, launch: Launch, run: Callable[..., None], prepare: Callable[..., PreparedLaunch]) -> None:
        self._launch = launch
        self._run = run
        self._prepare = prepare

    def __call__(self, *args: Any, **named: Any) -> None:  # noqa: ANN401
        self._run(self._launch, *args, **named)

    def prepare(self, *args: Any, **named: Any) -> PreparedLaunch:  # noqa: ANN401
        """Check the arguments of a call now; the call, which can be made many times."""
        return self._prepare(self._launch, *args, **named)
