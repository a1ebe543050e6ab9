"""Kernels and functions of an artifact as Python objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from enzyme_driver.artifact import Artifact, read
from enzyme_driver.errors import ArgumentError, ArtifactError, Location, NameNotFoundError, RefusedError, UsageError
from enzyme_driver.model import (
    TARGETS,
    Entry,
    Mode,
    Parameter,
    Refusal,
    Signature,
    Target,
    TargetEntry,
    bare_name,
    plain_name,
)
from enzyme_driver.runtime.backends.host import HostBackend
from enzyme_driver.runtime.call.arguments import Arguments, PreparedArguments
from enzyme_driver.runtime.call.calls import Backend, Call
from enzyme_driver.runtime.call.geometry import Launch, launch_of
from enzyme_driver.runtime.call.launcher import Launcher, PreparedLaunch
from enzyme_driver.runtime.call.slots import argument_slot, spelled
from enzyme_driver.runtime.call.values import returned, scalar_bytes
from enzyme_driver.runtime.call.variables import Variables
from enzyme_driver.runtime.tape.query import Number
from enzyme_driver.runtime.tape.record import Tape, recording, refuse_number, refuse_while_recording, unrecorded
from enzyme_driver.runtime.transforms.batch import Batch
from enzyme_driver.runtime.transforms.hvp import Hvp
from enzyme_driver.runtime.transforms.jvp import Jvp
from enzyme_driver.runtime.transforms.vjp import Vjp
from enzyme_driver.settings import Settings

if TYPE_CHECKING:
    from enzyme_driver.runtime.transforms.check import CheckResult
    from enzyme_driver.runtime.transforms.guard import Guard
    from enzyme_driver.runtime.transforms.sparsity import Patterns

P = ParamSpec("P")
R = TypeVar("R")
Shadows = Mapping[str, object]
Prepare = Callable[[Sequence[object], Shadows], PreparedArguments]


class Launchable(Generic[R]):
    """Something that needs `[grid, block]`, `[grid, block, stream]` or `[grid, block, stream, shared_bytes]`."""

    def __init__(self, run: Callable[..., R], name: str) -> None:
        self._run = run
        self._name = name

    def __getitem__(self, key: object) -> Callable[..., R]:
        return partial(self._run, launch_of(key))

    def __call__(self, *args: object, **named: object) -> R:
        del args, named
        raise UsageError(f"{self._name} is launched over a grid", hint=f"write {self._name}[grid, block](...)")

    def __repr__(self) -> str:
        return f"<{self._name}[grid, block](...)>"


class Gradient(Launchable[None]):
    """`k.gradient`, of which a launch can also be prepared."""

    def __init__(self, run: Callable[..., None], name: str, prepare: Callable[..., PreparedLaunch]) -> None:
        super().__init__(run, name)
        self._prepare = prepare

    def __getitem__(self, key: object) -> Launcher:
        return Launcher(launch_of(key), self._run, self._prepare)


class _Callable:
    """What kernels and functions share."""

    def __init__(self, entry: Entry, backend: Backend) -> None:
        self._entry = entry
        self._backend = backend
        self._arguments = Arguments(entry.signature, backend.target)
        self._tangent_arguments = Arguments(entry.signature.forward, backend.target)
        self.target = backend.target
        self.guard: Guard | None = None
        """What looks at the gradient before it is used first; None where nothing does."""

    def _verify(self, values: tuple[object, ...], launch: Launch | None) -> None:
        if self.guard and not self.guard.is_open:
            with unrecorded():
                self.guard(cast("Kernel | Function", self), values, launch)

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
        return f"<adgen {self.signature.kind} {spelled(self.signature)} on {self.target}>"

    def _primal_entry(self) -> TargetEntry:
        entry = self._entry.targets.get(self.target)
        if entry is None:
            raise RefusedError(f"{self.name} was not compiled for {self.target}", hint=f"compile it: -t {self.target}")
        if entry.primal_refused:
            raise _refused(self.name, entry.primal_refused)
        return entry

    def _gradient_entry(self) -> TargetEntry:
        entry = self._primal_entry()
        if entry.gradient_refused:
            raise _refused(f"the gradient of {self.name}", entry.gradient_refused)
        self._refuse_on_tape("a gradient")
        return entry

    def _forward_entry(self) -> TargetEntry:
        self._primal_entry()
        entry = self._entry_of_mode(self._entry.forward, "forward", "forward mode")
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
        return self._entry_of_mode(self._entry.second, "second", "second derivatives", "the second derivative")

    def _entry_of_mode(
        self, made: Mapping[Target, TargetEntry], mode: Mode, what: str, refused: str | None = None
    ) -> TargetEntry:
        """That of this target; UsageError where it was not asked for, RefusedError where there is none."""
        entry = made.get(self.target)
        if entry is None:
            raise UsageError(
                f"{self.name} was compiled without {what}",
                hint=f'compile it with modes=["{mode}"] (adgen compile --mode {mode})',
            )
        if entry.gradient_refused:
            raise _refused(f"{refused or what} of {self.name}", entry.gradient_refused)
        return entry

    def _refuse_on_tape(self, what: str) -> None:
        refuse_while_recording(f"{what} of {self.name}", "what it writes", "take derivatives after the `with` block")

    def _recorded(self, tape: Tape, bound: tuple[object, ...], launch: Launch | None) -> bytes:
        """Run it on the tape; what it returned."""
        for variable in self.signature.variables:
            if variable.has_shadow or variable.dtype.has_pointers:
                what = "an active variable" if variable.has_shadow else "a variable that holds pointers"
                raise RefusedError(
                    f"{self.name} on a tape: {variable.name!r} is {what}, which a tape cannot follow",
                    hint="pass it as a parameter of the kernel",
                )
        for parameter, value in zip(self.signature, bound, strict=True):
            refuse_number(value, parameter.name)
        with unrecorded():
            entry = self._gradient_entry() if self.signature.shadowed else self._primal_entry()
        if self.signature.shadowed:
            self._verify(bound, launch)
        values = self._arguments.recorded(bound)
        return tape.record(Call(self.signature, entry, self._backend, launch, values))


def _refused(what: str, refusal: Refusal) -> RefusedError:
    location = Location(refusal.file, refusal.line) if refusal.file else None
    return RefusedError(f"{what}: {refusal.reason}", hint=refusal.hint, location=location)


class Kernel(_Callable):
    """A kernel on one target: `k[grid, block](*args)`.

    Arguments are given in order or by name and converted by the signature: arrays for pointers (C-contiguous, of
    exactly the declared dtype, never copied), numbers for scalars, a dict of its members (a NumPy structured scalar, a
    ctypes.Structure) for a struct. Raises ArgumentError for what does not fit, RefusedError where there is no gradient.
    """

    def __init__(self, entry: Entry, backend: Backend) -> None:
        super().__init__(entry, backend)
        self.variables = Variables(entry.signature, backend)
        """The file's `__constant__` and `__device__` variables: `k.variables["scale"] = 2.0`."""
        self.patterns: Patterns | None = None
        """What finds patterns of Jacobians; None where the source is not known."""

    def __getitem__(self, key: object) -> Launcher:
        return Launcher(launch_of(key), self._run, self._prepare)

    def __call__(self, *args: object, **named: object) -> None:
        Launchable(self._run, self.name)(*args, **named)

    @property
    def gradient(self) -> Gradient:
        """`k.gradient[grid, block](*args, shadows={...})` adds to the shadows of inputs and consumes those of outputs.

        A shadow is an array of the shape and dtype of its parameter's array; for an active scalar or struct it is
        a one-element array. The primal runs again: arrays that it reads and writes must hold their values on entry.
        """
        return Gradient(self._run_gradient, f"{self.name}.gradient", self._prepare_gradient)

    @property
    def vjp(self) -> Launchable[dict[str, Any]]:
        """`k.vjp[grid, block](*args, cotangents={...}, wrt=(...))` returns new arrays and leaves `args` as they are.

        `cotangents` are those of the arrays that the kernel writes (zeros where not given); `wrt` names the parameters
        (default: all that have a derivative and are read). The result has one array a name, of the shape and dtype
        of the argument, and for active scalars of shape (); for what is both read and written, the gradient is
        that with respect to the value on entry. With `directions=N` cotangents and results have one more axis, the
        first, with one product an element.
        """
        return Launchable(self._run_vjp, f"{self.name}.vjp")

    @property
    def jvp(self) -> Launchable[dict[str, Any]]:
        """`k.jvp[grid, block](*args, tangents={...})` returns the outputs' tangents and leaves `args` as they are.

        `tangents` are directions of arrays (zeros where not given), and of numbers, for which a number is given. The
        result has one new array for each array that the kernel may write. Needs `modes=["forward"]`. `directions=N` as
        for `vjp`; numbers are then given as sequences.
        """
        return Launchable(self._run_jvp, f"{self.name}.jvp")

    @property
    def hvp(self) -> Launchable[dict[str, Any]]:
        """`k.hvp[grid, block](*args, tangents={...}, cotangents={...}, wrt=(...))` returns derivatives of the gradient.

        The result is that of `vjp`, differentiated along `tangents`, which are as for `jvp`: of a kernel that computes
        a sum, the Hessian times the tangents. Needs `modes=["second"]`. With `directions=N` tangents and results
        have one more axis, the first.
        """
        return Launchable(self._run_hvp, f"{self.name}.hvp")

    @property
    def check(self) -> Launchable[CheckResult]:
        """`k.check[grid, block](*args, seed=0)` compares the gradient with finite differences and, if there, `jvp`.

        With `against=` the same kernel on another target, it is compared with its gradient too; the arguments and the
        device variables are copied there. Returns a CheckResult; raises CheckFailedError, which names the worst
        parameter, where something differs. `args` stay as they are.
        """
        return Launchable(self._run_check, f"{self.name}.check")

    @property
    def jacobian(self) -> Launchable[Any]:
        """`k.jacobian[grid, block](*args, of="y", wrt="x", pattern=None, check=False)`: a sparse Jacobian.

        A CSR matrix, of SciPy for NumPy arrays and of CuPy on a GPU: row i has the derivatives of element i of `of`
        after the launch with respect to the elements of `wrt` before it. `pattern` is a sparse matrix with an entry
        wherever one may differ from zero (the whole matrix by default): columns that have no row in common are carried
        together by forward mode, where that was compiled, or rows without a common column by the gradient, whichever
        needs fewer directions. With `check` the product with a random direction is compared with the gradient, and
        CheckFailedError raised where the pattern lacks an entry. `args` stay as they are. Raises ArgumentError for
        arrays without derivative and for patterns of another shape, ToolchainError without SciPy.
        """
        return Launchable(self._run_jacobian, f"{self.name}.jacobian")

    @property
    def hessian(self) -> Launchable[Any]:
        """`k.hessian[grid, block](*args, of="y", wrt="x", pattern=None, cotangents=None)`: a sparse Hessian.

        A symmetric CSR matrix of the second derivatives of the sum of `of`, or of what `cotangents` weigh, with respect
        to the elements of `wrt`. `pattern` is a symmetric sparse matrix with an entry wherever one may differ from zero
        (by default where two inputs meet in an output, where `k.sparsity` can find that, else the whole matrix):
        numbers of one colour are carried together. Needs `modes=["second"]`. `args` stay as they are. Raises
        ArgumentError for arrays without derivative and for other patterns, ToolchainError without SciPy.
        """
        return Launchable(self._run_hessian, f"{self.name}.hessian")

    @property
    def sparsity(self) -> Launchable[Any]:
        """`k.sparsity[grid, block](*args, of="y", wrt="x")`: which entries of the Jacobian may differ from zero.

        A CSR matrix of ones, of SciPy: row i has an entry for each number of `wrt` before the launch that number i of
        `of` is computed from after it, on the way that these arguments take. With `global_=True` it holds for all
        contents of `wrt`: of a choice by data both sides count, and a branch or an address by data is refused. `args`
        stay as they are. Raises ArgumentError for arrays without derivative, RefusedError for what sets of inputs
        cannot be carried through, ToolchainError without SciPy.
        """
        return Launchable(self._run_sparsity, f"{self.name}.sparsity")

    def _run_sparsity(
        self, launch: Launch, /, *args: object, of: str, wrt: str, global_: bool = False, **named: object
    ) -> Any:  # noqa: ANN401
        if self.patterns is None:
            hint = "compile it from its source with adgen.compile, which what carries sets is compiled of too"
            raise UsageError(f"the source of {self.name} is not known", hint=hint)
        with unrecorded():
            return self.patterns.find(self, self._arguments.bind(args, named), launch, of, wrt, for_all=global_)

    def _run_jacobian(
        self,
        launch: Launch,
        /,
        *args: object,
        of: str,
        wrt: str,
        pattern: object = None,
        check: bool = False,
        **named: object,
    ) -> Any:  # noqa: ANN401
        from enzyme_driver.runtime.transforms.jacobian import Asked, jacobian

        bound = self._arguments.bind(args, named)
        if pattern is None and self.patterns:
            with unrecorded():
                pattern = self.patterns.find(self, bound, launch, of, wrt)
        carry = partial(self._run_jvp, launch) if self.has_forward else None
        tangents, gradients = (
            partial(self.gradients, launch, forward=forward) if self._does_many(forward=forward) else None
            for forward in (True, False)
        )
        asked = Asked(self.signature, bound, of, wrt, partial(self._run_vjp, launch), carry, tangents, gradients)
        return jacobian(asked, pattern, check=check)

    def _run_hessian(
        self,
        launch: Launch,
        /,
        *args: object,
        of: str,
        wrt: str,
        pattern: Any = None,  # noqa: ANN401
        cotangents: Mapping[str, object] | None = None,
        **named: object,
    ) -> Any:  # noqa: ANN401
        from enzyme_driver.runtime.transforms.hessian import AskedHessian, hessian

        bound = self._arguments.bind(args, named)
        if pattern is None and self.patterns:
            with unrecorded():
                met = self.patterns.find(self, bound, launch, of, wrt)
            pattern = met.T @ met
        return hessian(
            AskedHessian(self.signature, bound, of, wrt, cotangents, partial(self._run_hvp, launch)), pattern
        )

    def _does_many(self, *, forward: bool) -> bool:
        """Whether a kernel does many launches at once, for arguments that are arrays and numbers."""
        entry = (self._entry.forward if forward else self._entry.targets).get(self.target)
        plain = not any(each.dtype.has_pointers or each.form == "struct" for each in self.signature)
        return bool(entry and entry.batch and plain and not any(each.has_shadow for each in self.signature.variables))

    def gradients(
        self, launch: Launch, batch: Batch, args: Sequence[object], shadows: Shadows, *, forward: bool = False
    ) -> None:
        """Many launches of the gradient (of what carries tangents) at once; arrays are those of the first launch."""
        entry = self._forward_entry() if forward else self._gradient_entry()
        arguments = self._tangent_arguments if forward else self._arguments
        prepared = (arguments.forward if forward else arguments.gradient)(arguments.bind(args, {}), shadows)
        self._backend.launch_batch(arguments.signature, entry, prepared, launch, batch)

    def _run(self, launch: Launch, /, *args: object, **named: object) -> None:
        entry, tape = self._primal_entry(), recording()
        bound = self._arguments.bind(args, named)
        if tape:
            self._recorded(tape, bound, launch)
        else:
            self._backend.launch(entry, self._arguments.primal(bound), launch, gradient=False)

    def _prepare(self, launch: Launch, /, *args: object, **named: object) -> PreparedLaunch:
        entry, given = self._primal_entry(), self._arguments.primal(self._arguments.bind(args, named))
        return PreparedLaunch(self.name, self._backend, entry, given, launch, gradient=False)

    def _run_gradient(self, launch: Launch, /, *args: object, shadows: Shadows, **named: object) -> None:
        entry, bound = self._gradient_entry(), self._arguments.bind(args, named)
        self._verify(bound, launch)
        self._differentiate(entry, self._arguments.gradient, launch, bound, shadows)

    def _prepare_gradient(self, launch: Launch, /, *args: object, shadows: Shadows, **named: object) -> PreparedLaunch:
        entry, bound = self._gradient_entry(), self._arguments.bind(args, named)
        given = self._with_variables(self._arguments.gradient, bound, shadows)
        before = partial(self._verify, bound, launch) if self.guard else None
        name = f"{self.name}.gradient"
        return PreparedLaunch(name, self._backend, entry, given, launch, gradient=True, before=before)

    def _differentiate(
        self, entry: TargetEntry, prepare: Prepare, launch: Launch, values: Sequence[object], shadows: Shadows
    ) -> None:
        self._backend.launch(entry, self._with_variables(prepare, values, shadows), launch, gradient=True)

    def _with_variables(self, prepare: Prepare, values: Sequence[object], shadows: Shadows) -> PreparedArguments:
        """The call, with the shadows of variables among those that are given."""
        own = {name: shadow for name, shadow in shadows.items() if name not in self.variables}
        prepared = prepare(values, own)
        return replace(prepared, variables=self.variables.shadows(shadows)) if self.variables else prepared

    def _run_vjp(
        self,
        launch: Launch,
        /,
        *args: object,
        cotangents: Mapping[str, object] | None = None,
        wrt: Iterable[str] | str | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        entry = self._gradient_entry()
        bound = self._arguments.bind(args, named)
        product = Vjp(self._arguments, bound, cotangents, wrt, directions)
        self._verify(bound, launch)
        stream = self._backend.stream_of(launch, product.given)
        return product.run(partial(self._differentiate, entry, self._arguments.gradient, launch), stream)

    def _run_jvp(
        self,
        launch: Launch,
        /,
        *args: object,
        tangents: Mapping[str, object],
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        entry, arguments = self._forward_entry(), self._tangent_arguments
        product = Jvp(arguments, arguments.bind(args, named), tangents, directions)
        stream = self._backend.stream_of(launch, product.given)
        return product.run(partial(self._differentiate, entry, arguments.forward, launch), stream)

    def _run_hvp(
        self,
        launch: Launch,
        /,
        *args: object,
        tangents: Mapping[str, object],
        cotangents: Mapping[str, object] | None = None,
        wrt: Iterable[str] | str | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        entry, twice = self._second_entry(), self._twice_arguments
        self._tangent_arguments.check_shadow_names(tangents, "tangent")
        product = Hvp(self._arguments, twice, self._arguments.bind(args, named), cotangents, wrt)
        stream = self._backend.stream_of(launch, product.given)
        carry = partial(self._differentiate, entry, twice.forward, launch)
        return product.run(carry, tangents, directions, stream)

    def _run_check(
        self,
        launch: Launch,
        /,
        *args: object,
        seed: int = 0,
        tolerance: float | None = None,
        against: Kernel | None = None,
        **named: object,
    ) -> CheckResult:
        from enzyme_driver.runtime.transforms.check import check_kernel

        bound = self._arguments.bind(args, named)
        with unrecorded():
            self._gradient_entry()
            found = check_kernel(self, bound, launch, seed=seed, tolerance=tolerance, against=against)
        return found.raised(self.name)


class Function(_Callable):
    """A C++ function of the host library: `f(*args)`. Arguments as for `Kernel`."""

    def __call__(self, *args: object, **named: object) -> float | int | None:
        """The returned number as a Python float or int, None for void. Raises PrimalError where the code throws."""
        entry, tape = self._primal_entry(), recording()
        bound = self._arguments.bind(args, named)
        kind = self.signature.returns
        if tape:
            data = self._recorded(tape, bound, None)
        else:
            data = self._backend.call(entry, self._arguments.primal(bound), kind.size if kind else 0, gradient=False)
        result = returned(data, kind) if kind else None
        return Number(result, tape, tape.launches - 1) if tape and isinstance(result, float) else result

    def gradient(self, *args: object, shadows: Mapping[str, object], cotangent: float = 1.0, **named: object) -> None:
        """Add `cotangent` times the gradient of the returned number to the shadows, see `Kernel.gradient`."""
        self._gradient_entry()
        bound = self._arguments.bind(args, named)
        self._verify(bound, None)
        self._gradient(bound, shadows, cotangent)

    def vjp(
        self,
        *args: object,
        wrt: Iterable[str] | str | None = None,
        cotangent: float | Sequence[float] = 1.0,
        cotangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        """New arrays with the gradient, see `Kernel.vjp`.

        `cotangent` is that of the returned number, with `directions` one number for all or a sequence of them.
        """
        self._gradient_entry()
        bound = self._arguments.bind(args, named)
        product = Vjp(self._arguments, bound, cotangents, wrt, directions)
        self._verify(bound, None)
        each = iter(_one_a_direction(cotangent, directions))
        return product.run(lambda values, shadows: self._gradient(values, shadows, next(each)), None)

    def jvp(
        self, *args: object, tangents: Mapping[str, object], directions: int | None = None, **named: object
    ) -> dict[str, Any]:
        """The tangents of what the function writes, see `Kernel.jvp`, and that of the returned number as "return"."""
        entry, arguments, kind = self._forward_entry(), self._tangent_arguments, self.signature.returns
        product = Jvp(arguments, arguments.bind(args, named), tangents, directions)
        returns = kind if kind and kind.kind == "float" else None
        results = []

        def carry(values: Sequence[object], shadows: Mapping[str, object]) -> None:
            prepared = arguments.forward(values, shadows)
            data = self._backend.call(entry, prepared, returns.size if returns else 0, gradient=True)
            results.append(returned(data, returns) if returns else None)

        made = product.run(carry, None)
        if returns is None:
            return made
        return {**made, "return": results[0] if directions is None else np.array(results)}

    def hvp(
        self,
        *args: object,
        tangents: Mapping[str, object],
        wrt: Iterable[str] | str | None = None,
        cotangent: float = 1.0,
        cotangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        """The derivatives of `vjp` along tangents, see `Kernel.hvp`: the Hessian of the returned number times these."""
        entry, twice = self._second_entry(), self._twice_arguments
        self._tangent_arguments.check_shadow_names(tangents, "tangent")
        product = Hvp(self._arguments, twice, self._arguments.bind(args, named), cotangents, wrt, cotangent)

        def carry(values: Sequence[object], shadows: Mapping[str, object]) -> None:
            self._backend.call(entry, twice.forward(values, shadows), 0, gradient=True)

        return product.run(carry, tangents, directions, None)

    def check(self, *args: object, seed: int = 0, tolerance: float | None = None, **named: object) -> CheckResult:
        """Compare the gradient with finite differences, see `Kernel.check`."""
        from enzyme_driver.runtime.transforms.check import check_function

        bound = self._arguments.bind(args, named)
        with unrecorded():
            self._gradient_entry()
            return check_function(self, bound, seed=seed, tolerance=tolerance).raised(self.name)

    def _gradient(self, values: Iterable[object], shadows: Mapping[str, object], cotangent: float) -> None:
        entry = self._gradient_entry()
        prepared = self._arguments.gradient(tuple(values), shadows)
        kind = self.signature.returns
        if kind is None and cotangent != 1.0:
            raise ArgumentError(f"{self.name} returns nothing, so it has no cotangent", hint="leave `cotangent` out")
        if kind is not None:
            slot = argument_slot(self.signature, Parameter("cotangent", "scalar", kind, True, "const"), self.target)
            prepared = prepared.followed_by(scalar_bytes(cotangent, slot))
        self._backend.call(entry, prepared, 0, gradient=True)


def _one_a_direction(cotangent: float | Sequence[float], directions: int | None) -> list[float]:
    """The cotangent of the returned number along each direction."""
    given: list[float] = np.atleast_1d(cotangent).tolist()
    if np.ndim(cotangent) == 0:
        return given * (directions or 1)
    if len(given) != directions:
        raise ArgumentError(
            f"cotangent: {len(given)} numbers for {directions or 'no'} directions", hint="give one a direction, or one"
        )
    return given


class _NoSuchEntryError(NameNotFoundError, AttributeError):
    """Also an AttributeError, so that `hasattr` and tab completion work."""


class Module:
    """The kernels and functions of an artifact on one target, each an attribute and an item.

    An instantiation of a template is `module["axpy<float>"]`, as an attribute `module.axpy_float`, and
    `module.axpy` where it is the only one. Overloads are named by their symbols.
    """

    def __init__(self, artifact: Artifact, target: Target, settings: Settings) -> None:
        self.artifact = artifact
        self.target = target
        host = target == "openmp"
        backend = HostBackend(artifact, settings.stack_bytes) if host else _cuda_backend(artifact, settings)
        names = Counter(entry.signature.name for entry in artifact.entries)
        self._entries: dict[str, Kernel | Function] = {
            name if names[name := entry.signature.name] == 1 else entry.signature.symbol: _opened(entry, backend)
            for entry in artifact.entries
        }

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return tuple(entry.signature for entry in self)

    def __getitem__(self, name: str) -> Kernel | Function:
        wanted, keys = plain_name(name), list(self._entries)
        overloads = [f"{key} for {entry.signature}" for key, entry in self._entries.items() if entry.name == name]
        found = [key for key in keys if wanted in {plain_name(key), _identifier(key)}]
        if overloads and not found:
            raise _NoSuchEntryError(f"{name!r} is overloaded", hint=f"name one by its symbol: {'; '.join(overloads)}")
        found = found or [key for key in keys if plain_name(key).endswith(f"::{wanted}")]
        found = found or [key for key in keys if wanted in {key.partition("<")[0], bare_name(key)}]
        if len(found) == 1:
            return self._entries[found[0]]
        import difflib

        near = [key for key in keys if key.startswith(name) or bare_name(key) == bare_name(name)]
        near = near or difflib.get_close_matches(name, keys)
        hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(self._entries) or 'no entries'}"
        raise _NoSuchEntryError(f"the artifact has no kernel or function {name!r}", hint=hint)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a kernel or a function: the caller knows which)
        if name.startswith("__") or "_entries" not in self.__dict__:
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[Kernel | Function]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *map(_identifier, self._entries)]

    def __repr__(self) -> str:
        return f"<adgen module of {self.artifact.manifest.source.name} on {self.target}: {', '.join(self._entries)}>"


def standing_for(witness: Kernel | Function, subject: Kernel | Function) -> Kernel | Function:
    """The witness under the signature of what it is a witness of, which knows what is read and written."""
    entry = replace(witness._entry, signature=subject.signature)  # noqa: SLF001  (of the same module)
    return _opened(entry, witness._backend)  # noqa: SLF001


def _opened(entry: Entry, backend: Backend) -> Kernel | Function:
    return Kernel(entry, backend) if entry.signature.kind == "kernel" else Function(entry, backend)


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _cuda_backend(artifact: Artifact, settings: Settings) -> Backend:
    from enzyme_driver.runtime.backends.cuda import CudaBackend

    return CudaBackend(artifact, settings.device_heap, settings.tape_limit)


def load(folder: Path | str, target: Target | None = None) -> Module:
    """The module of the artifact in `folder`; needs no compiler.

    `target` is "openmp" or "cuda" (default: the one that was built, OpenMP where both were). Raises ArtifactError
    where the artifact is damaged, of another version, or has no code for the target.
    """
    return open_module(read(folder), target)


def open_module(artifact: Artifact, target: Target | None = None, settings: Settings | None = None) -> Module:
    """The module of an artifact that was read already; arguments and errors as for `load`."""
    if target is not None and target not in TARGETS:
        raise UsageError(f"there is no target {target!r}", hint=f"the targets are {' and '.join(TARGETS)}")
    built = artifact.targets
    if not built or (target is not None and target not in built):
        wanted = target or " or ".join(TARGETS)
        raise ArtifactError(f"{artifact.folder} has no code for {wanted}", hint=f"compile it with `-t {wanted}`")
    return Module(artifact, target or built[0], settings or Settings.from_environment())
