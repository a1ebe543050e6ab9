"""A kernel that takes states one step on, differentiated through all its steps at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import enzyme_driver as adgen
from enzyme_driver.errors import ArgumentError, CheckFailedError
from enzyme_driver.model import Target
from enzyme_driver.runtime.call.geometry import launch_of
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.runtime.transforms.batch import Advance, Batch
from enzyme_driver.scan.chain import library
from enzyme_driver.scan.memory import room
from enzyme_driver.scan.scan import cotangents

Shape = Callable[[int], Any]
"""The grid and block for a number of samples: `lambda samples: (-(-samples // 64), 64)`."""

STATES_AXES = 3
CLOSE = {4: 1e-3, 8: 1e-9}
"""How far a Jacobian may be from the gradient along a direction, by the bytes of a number."""
SAMPLES_AT_ONCE = 1 << 14
"""Samples of a launch whose unit cotangents are shared with the other launches: these then stay in the GPU's cache."""


@dataclass(frozen=True)
class Recurrence:
    """A step, compiled twice: `by_state` has the gradient by the state alone, `by_parameters` that by all the rest.

    The step reads `state`, an array [samples, size], and writes `following`, another one: sample by sample, which must
    not depend on each other. `per_step` names the arrays of which each step has a part of its own, in order.
    `samples` names the number that says how many samples there are, where the kernel has one: all steps are then
    launched as the samples of few.
    """

    by_state: Kernel
    by_parameters: Kernel
    state: str
    following: str
    per_step: tuple[str, ...] = ()
    samples: str | None = None

    def run(self, launch: Shape, states: Any, **named: Any) -> None:  # noqa: ANN401
        """All steps, one launch after the other: `states[0]` is given, `states[1:]` are written."""
        steps, batch, _ = self._checked(states, named)
        for step in range(steps):
            moved = {name: named[name][step] for name in self.per_step}
            given = {**named, **moved, self.state: states[step], self.following: states[step + 1]}
            self.by_parameters[launch(batch)](**given)

    def jacobians(self, launch: Shape, states: Any, **named: Any) -> Any:  # noqa: ANN401
        """The Jacobians of all steps by one launch: a view [steps, batch, size, size] of what it wrote.

        `states` [steps + 1, batch, size] are those of a run, `named` the other arguments of the step, those of
        `per_step` with the step as their first axis. Raises ArgumentError where these do not fit, and DeviceError or
        MemoryError where the Jacobians do not fit into memory.
        """
        steps, batch, size = self._checked(states, named)
        xp, item = library(states), states.itemsize
        # Each direction writes, for one unit vector as the cotangent behind each step, one row of all Jacobians.
        rows = room(xp, (size, steps, batch, size), states.dtype, "the Jacobians")
        if not steps:
            return rows.transpose(1, 2, 0, 3)
        kept = self.following in self.by_state.kept_shadows
        together = self._together(steps, batch) if kept else steps if self.samples else 1
        shared = together if kept else steps
        made = _units if kept else _units.__wrapped__
        units = made(xp, size, shared * batch, states.dtype)
        group = together * batch * size * item
        batches = Batch(
            outer=steps // together,
            inner=size,
            arguments=self._moved(named, group, together),
            shadows={
                self.state: Advance(group, steps * batch * size * item),
                self.following: Advance(0 if kept else group, shared * batch * size * item),
            },
        )
        given = self._launched(states, named, 0, together)
        first = {self.state: rows[0, :together], self.following: units[0, : together * batch]}
        shadows = {name: shadow.reshape(given[name].shape) for name, shadow in first.items()}
        values = [given[name] for name in self.by_state.signature.names]
        self.by_state.gradients(launch_of(launch(together * batch)), batches, values, shadows)
        return rows.transpose(1, 2, 0, 3)

    def vjp(
        self,
        launch: Shape,
        states: Any,  # noqa: ANN401
        cotangent: Any,  # noqa: ANN401
        *,
        direct: Any = None,  # noqa: ANN401
        wrt: Iterable[str] | str = (),
        method: str = "auto",
        check: bool = False,
        **named: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """The gradient through all steps: Jacobians in one launch, the scan, the parameters' gradients in one launch.

        `cotangent` [batch, size] is that of the last state, `direct` [steps, batch, size] what each state before it
        gets from elsewhere, such as a loss of every step. Under the name of the state the result holds the cotangents
        of all states, [steps + 1, batch, size], and beside it those of `wrt`, with the shape of the argument.
        `method` is as for `scan.cotangents`. With `check`, numbers that are not finite are named by step, and the
        Jacobians are compared with the step's gradient along random cotangents of all samples at once: CheckFailedError
        where samples depend on each other. Raises what `scan.cotangents` raises.
        """
        jacobians = self.jacobians(launch, states, **named)
        if check:
            self._check(launch, states, jacobians, named)
        carried = cotangents(jacobians, cotangent, direct=direct, method=method, check=check)
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        return {self.state: carried, **self.parameters(launch, states, carried, names, **named)}

    def _check(self, launch: Shape, states: Any, jacobians: Any, named: Mapping[str, Any]) -> None:  # noqa: ANN401
        """One step after the other, by the kernel's plain gradient."""
        (steps, batch, size), xp = self._checked(states, named), library(states)
        rng = xp.random.RandomState(0)
        for step in range(steps):
            seed = rng.standard_normal((batch, size)).astype(states.dtype)
            found = xp.zeros_like(seed)
            given = self._launched(
                states, {**named, **{name: named[name][step : step + 1] for name in self.per_step}}, 0, 1
            )
            given[self.state] = states[step]
            shadows = {self.state: found, self.following: seed.copy()}
            self.by_state.gradient[launch(batch)](**given, shadows=shadows)
            wanted = xp.matmul(seed[:, None], jacobians[step])[:, 0]
            scale = float(abs(found).max()) + float(abs(wanted).max())
            if float(abs(found - wanted).max()) > CLOSE[states.dtype.itemsize] * scale:
                raise CheckFailedError(
                    f"step {step}: the Jacobian of a sample is not all that its state does",
                    hint="samples of a step must not depend on each other's states: give each state as one sample",
                )

    def parameters(
        self,
        launch: Shape,
        states: Any,  # noqa: ANN401
        carried: Any,  # noqa: ANN401
        wrt: tuple[str, ...],
        **named: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """The gradient by the arguments `wrt`, in one launch, from the cotangents of all states, as `vjp` has them."""
        kernel, (steps, batch, size), xp = self.by_parameters, self._checked(states, named), library(states)
        shadowed = [each.name for each in kernel.signature.shadowed if each.name != self.following]
        for name in wrt:
            if name not in shadowed:
                hint = f"one of {', '.join(shadowed)}"
                raise ArgumentError(f"wrt {name!r}: the step has no derivative with respect to it", hint=hint)
        if not steps or not wrt:
            return {name: xp.zeros_like(named[name]) for name in wrt}
        # Launches at the same time must not add to one array: where there are many, each has a copy of it.
        together = steps if self.samples else 1
        count = steps // together
        made = {name: self._shadow(xp, named[name], name, count) for name in shadowed}
        seeds = carried[1:].copy()
        group = together * batch * size * states.itemsize
        own = {
            name: Advance(_part(shadow) * (together if name in self.per_step else 1)) for name, shadow in made.items()
        }
        batches = Batch(count, 1, self._moved(named, group, together), {**own, self.following: Advance(group)})
        given = self._launched(states, named, 0, together)
        first = {name: shadow[:together] if name in self.per_step else shadow[0] for name, shadow in made.items()}
        first[self.following] = seeds[:together]
        shadows = {name: shadow.reshape(given[name].shape) for name, shadow in first.items()}
        key = launch(together * batch)
        if count == 1:
            kernel.gradient[key](**given, shadows=shadows)
        else:
            kernel.gradients(launch_of(key), batches, [given[name] for name in kernel.signature.names], shadows)
        return {name: made[name] if name in self.per_step else made[name].sum(axis=0) for name in wrt}

    def _shadow(self, xp: Any, value: Any, name: str, count: int) -> Any:  # noqa: ANN401
        shape = value.shape if name in self.per_step else (count, *value.shape)
        return room(xp, shape, value.dtype, f"the cotangents of {name!r}")

    def _moved(self, named: Mapping[str, Any], state: int, together: int) -> dict[str, Advance]:
        """What advances with the outer index, which counts launches of `together` steps."""
        parts = {name: Advance(_part(named[name]) * together) for name in self.per_step}
        return {**parts, self.state: Advance(state)}

    def _launched(self, states: Any, named: Mapping[str, Any], first: int, count: int) -> dict[str, Any]:  # noqa: ANN401
        """The arguments of a gradient of so many steps, which are samples of one. All launches write their states anew
        to the same memory, from which nobody reads.
        """
        given = {
            name: value[first] if count == 1 else _merged(value[first : first + count])
            for name, value in named.items()
            if name in self.per_step
        }
        before = _merged(states[first : first + count])
        given |= {self.state: before, self.following: library(states).empty_like(before)}
        if self.samples is not None:
            given[self.samples] = count * named[self.samples]
        return {**named, **given}

    def _together(self, steps: int, batch: int) -> int:
        """How many steps are launched as samples of one: a divisor, so that all launches have as many."""
        most = max(1, SAMPLES_AT_ONCE // batch) if self.samples else 1
        return max(count for count in range(1, min(most, steps) + 1) if steps % count == 0)

    def _checked(self, states: Any, named: Mapping[str, Any]) -> tuple[int, int, int]:  # noqa: ANN401
        wanted = [name for name in self.by_state.signature.names if name not in {self.state, self.following}]
        if set(named) != set(wanted):
            raise ArgumentError(
                f"beside its states the step takes {', '.join(wanted)}, not {', '.join(named)}",
                hint="give them by name",
            )
        if states.ndim != STATES_AXES or not states.flags.c_contiguous or not len(states):
            raise ArgumentError(
                f"states: shape {tuple(states.shape)} is not [steps + 1, batch, size]",
                hint="C-contiguous, as `run` fills it",
            )
        steps, batch, size = len(states) - 1, int(states.shape[1]), int(states.shape[2])
        for name in self.per_step:
            if len(named[name]) != steps or not named[name].flags.c_contiguous:
                raise ArgumentError(
                    f"{name}: {len(named[name])} parts for {steps} steps",
                    hint="its first axis is the step; C-contiguous",
                )
        return steps, batch, size


def recurrence(
    path: str | Path,
    kernel: str,
    *,
    state: str,
    following: str,
    per_step: Iterable[str] = (),
    samples: str | None = None,
    target: Target = "openmp",
    **options: Any,  # noqa: ANN401
) -> Recurrence:
    """Compile the step `kernel` for `Recurrence`, by which the names are explained; `options` are for `adgen.compile`.

    Raises what `adgen.compile` raises, and ArgumentError for names that the kernel does not have.
    """
    by_state, by_parameters = (
        adgen.compile(path, kernel=kernel, target=target, activity=activity, modes=["batched"], **options)
        for activity in activities(path, kernel, state=state, following=following, target=target, **options)
    )
    return Recurrence(by_state, by_parameters, state, following, tuple(per_step), samples)


def activities(
    path: str | Path,
    kernel: str,
    *,
    state: str,
    following: str,
    target: Target,
    **options: Any,  # noqa: ANN401
) -> tuple[dict[str, str], dict[str, str]]:
    """Of the two compilations for a `Recurrence`: by the state, whose cotangent is zero before, and by all else."""
    signature = adgen.compile(path, kernel=kernel, target=target, **options).signature
    for name in (state, following):
        if name not in signature:
            raise ArgumentError(f"{kernel} has no parameter {name!r}", hint=f"it has {', '.join(signature.names)}")
    if signature[following].reads:
        reason = f"{kernel} reads {following!r}, which it writes"
        raise ArgumentError(reason, hint="let the step read what it wrote from a variable of its own")
    rest = [each.name for each in signature.shadowed if each.name not in {state, following}]
    return (
        {**dict.fromkeys(rest, "const"), state: "fresh", following: "discarded"},
        {state: "const", following: "discarded"},
    )


def _merged(array: Any) -> Any:  # noqa: ANN401
    """The first two axes, steps and samples, as one."""
    return array.reshape(-1, *array.shape[2:]) if array.ndim > 1 else array


def _part(array: Any) -> int:  # noqa: ANN401
    """The bytes of one element of the first axis."""
    return int(prod(array.shape[1:]) * array.itemsize)


@lru_cache(maxsize=8)
def _units(xp: Any, size: int, samples: int, dtype: Any) -> Any:  # noqa: ANN401
    """units[d, s] is unit vector d, for each sample s."""
    units = xp.zeros((size, samples, size), dtype)
    units[xp.arange(size), :, xp.arange(size)] = 1
    return units
