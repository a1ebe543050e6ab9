"""A kernel of an artifact as a Python object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from enzyme_driver.errors import RefusedError, UsageError
from enzyme_driver.model import (
    Entry,
    TargetEntry,
)
from enzyme_driver.runtime.call.arguments import Arguments
from enzyme_driver.runtime.call.arrivals import check_cotangents
from enzyme_driver.runtime.call.by_name import NONE_GIVEN, check_by_name
from enzyme_driver.runtime.call.calls import Backend
from enzyme_driver.runtime.call.geometry import Launch
from enzyme_driver.runtime.call.launcher import Launcher, PreparedLaunch
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.call.variables import Variables
from enzyme_driver.runtime.tape.record import recording, unrecorded
from enzyme_driver.runtime.transforms.batch import Batch
from enzyme_driver.runtime.transforms.hvp import Hvp
from enzyme_driver.runtime.transforms.jvp import Jvp
from enzyme_driver.runtime.transforms.vjp import Vjp

if TYPE_CHECKING:
    from enzyme_driver.runtime.transforms.check import CheckResult
    from enzyme_driver.runtime.transforms.sparsity import Patterns
from enzyme_driver.runtime.callables import CompiledEntry, Launchable, Preparable, Prepare, Shadows


class Kernel(CompiledEntry):
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
        return self._primals[key]

    def __call__(self, *args: object, **named: object) -> None:
        self._primals(*args, **named)

    @property
    def _primals(self) -> Preparable:
        return Preparable(self._run, self.signature, "", self._prepare)

    @property
    def gradient(self) -> Preparable:
        """`k.gradient[grid, block](*args, shadows={...})` adds to the shadows of inputs and consumes those of outputs.

        A shadow is an array of the shape and dtype of its parameter's array; for an active scalar or struct it is
        a one-element array. The primal runs again: arrays that it reads and writes must hold their values on entry.
        """
        return Preparable(self._run_gradient, self.signature, "gradient", self._prepare_gradient)

    @property
    def vjp(self) -> Launchable[dict[str, Any]]:
        """`k.vjp[grid, block](*args, cotangents={...}, wrt=(...))` returns new arrays and leaves `args` as they are.

        `cotangents` are those of the arrays that the kernel writes (zeros where not given); `wrt` names the parameters
        (default: all that have a derivative and are read). The result has one array a name, of the shape and dtype
        of the argument, and for active scalars of shape (); for what is both read and written, the gradient is
        that with respect to the value on entry. With `directions=N` cotangents and results have one more axis, the
        first, with one product an element.
        """
        return Launchable(self._run_vjp, self.signature, "vjp")

    @property
    def jvp(self) -> Launchable[dict[str, Any]]:
        """`k.jvp[grid, block](*args, tangents={...})` returns the outputs' tangents and leaves `args` as they are.

        `tangents` are directions of arrays (zeros where not given), and of numbers, for which a number is given. The
        result has one new array for each array that the kernel may write. Needs `modes=["forward"]`. `directions=N` as
        for `vjp`; numbers are then given as sequences.
        """
        return Launchable(self._run_jvp, self.signature, "jvp")

    @property
    def hvp(self) -> Launchable[dict[str, Any]]:
        """`k.hvp[grid, block](*args, tangents={...}, cotangents={...}, wrt=(...))` returns derivatives of the gradient.

        The result is that of `vjp`, differentiated along `tangents`, which are as for `jvp`: of a kernel that computes
        a sum, the Hessian times the tangents. Needs `modes=["second"]`. With `directions=N` tangents and results
        have one more axis, the first.
        """
        return Launchable(self._run_hvp, self.signature, "hvp")

    @property
    def check(self) -> Launchable[CheckResult]:
        """`k.check[grid, block](*args, seed=0)` compares the gradient with finite differences and, if there, `jvp`.

        With `against=` the same kernel on another target, it is compared with its gradient too; the arguments and the
        device variables are copied there. Where differences disagree and there is a source, dual numbers decide: at a
        kink the gradient is right and differences are not. Returns a CheckResult; raises CheckFailedError, which names
        the worst parameter, where something differs, GradientMismatchError and DataRaceError where dual numbers say so.
        `args` stay as they are.
        """
        return Launchable(self._run_check, self.signature, "check")

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
        return Launchable(self._run_jacobian, self.signature, "jacobian")

    @property
    def hessian(self) -> Launchable[Any]:
        """`k.hessian[grid, block](*args, of="y", wrt="x", pattern=None, cotangents=None)`: a sparse Hessian.

        A symmetric CSR matrix of the second derivatives of the sum of `of`, or of what `cotangents` weigh, with respect
        to the elements of `wrt`. `pattern` is a symmetric sparse matrix with an entry wherever one may differ from zero
        (by default where two inputs meet in an output, where `k.sparsity` can find that, else the whole matrix):
        numbers of one colour are carried together. Needs `modes=["second"]`. `args` stay as they are. Raises
        ArgumentError for arrays without derivative and for other patterns, ToolchainError without SciPy.
        """
        return Launchable(self._run_hessian, self.signature, "hessian")

    @property
    def sparsity(self) -> Launchable[Any]:
        """`k.sparsity[grid, block](*args, of="y", wrt="x")`: which entries of the Jacobian may differ from zero.

        A CSR matrix of ones, of SciPy: row i has an entry for each number of `wrt` before the launch that number i of
        `of` is computed from after it, on the way that these arguments take. With `global_=True` it holds for all
        contents of `wrt`: of a choice by data both sides count, and a branch or an address by data is refused. `args`
        stay as they are. Raises ArgumentError for arrays without derivative, RefusedError for what sets of inputs
        cannot be carried through, ToolchainError without SciPy.
        """
        return Launchable(self._run_sparsity, self.signature, "sparsity")

    def _run_sparsity(
        self, launch: Launch, /, *args: object, of: str, wrt: str, global_: bool = False, **named: object
    ) -> Any:  # noqa: ANN401
        if self.patterns is None:
            hint = "compile it from its source with adgen.compile, which what carries sets is compiled of too"
            raise UsageError(f"the source of {self.name} is not known", hint=hint)
        self._refuse_unordered(launch, "a pattern of one launch says nothing about the next")
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
        asked = AskedHessian(self.signature, bound, of, wrt, cotangents, partial(self._run_hvp, launch))
        return hessian(asked, pattern)

    def _does_many(self, *, forward: bool) -> bool:
        """Whether a kernel does many launches at once, for arguments that are arrays and numbers."""
        entry = (self._entry.forward if forward else self._entry.targets).get(self.target)
        plain = not any(
            each.dtype.has_pointers or each.form == "struct" or each.chosen or each.unordered for each in self.signature
        )
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
        if not tape and self._quick.primal(entry, self._arguments.in_order(args, named), launch) is not None:
            return
        bound = self._arguments.bind(args, named)
        if tape:
            self._recorded(tape, bound, launch)
        else:
            self._backend.launch(entry, self._arguments.primal(bound), launch, gradient=False)

    def _prepare(self, launch: Launch, /, *args: object, **named: object) -> PreparedLaunch:
        entry, given = self._primal_entry(), self._arguments.primal(self._arguments.bind(args, named))
        return PreparedLaunch(self.name, self._backend, entry, given, launch, gradient=False)

    def _run_gradient(self, launch: Launch, /, *args: object, shadows: Shadows = NONE_GIVEN, **named: object) -> None:
        entry = self._gradient_entry()
        plain = self._arguments.in_order(args, named)
        if self._is_verified and self._quick.gradient(entry, plain, shadows, launch):
            return
        check_by_name(shadows, "shadow")
        bound = self._arguments.bind(args, named)
        self._check_order(launch, shadows)
        self.verify(bound, launch)
        self._differentiate(entry, self._arguments, self._arguments.gradient, launch, bound, shadows)

    def _prepare_gradient(
        self, launch: Launch, /, *args: object, shadows: Shadows = NONE_GIVEN, **named: object
    ) -> PreparedLaunch:
        check_by_name(shadows, "shadow")
        entry, bound = self._gradient_entry(), self._arguments.bind(args, named)
        if self.signature.chooses:
            hint = "call gradient, which runs it twice"
            raise RefusedError(f"the gradient of {self.name}, in which atomics choose, cannot be prepared", hint=hint)
        self._refuse_unordered(launch, "nobody looks at the cotangents of a prepared gradient; call gradient")
        given = self._with_variables(self._arguments.gradient, bound, shadows)
        before = partial(self.verify, bound, launch) if self.guard else None
        name = f"{self.name}.gradient"
        return PreparedLaunch(name, self._backend, entry, given, launch, gradient=True, before=before)

    def _differentiate(
        self,
        entry: TargetEntry,
        settled: Arguments,
        prepare: Prepare,
        launch: Launch,
        values: Sequence[object],
        shadows: Shadows,
    ) -> None:
        """Launch a derivative; where atomics choose, what remains is found first, as arguments of `settled`."""

        def derivative(arguments: Sequence[object], own: Shadows) -> None:
            self._backend.launch(entry, self._with_variables(prepare, arguments, own), launch, gradient=True)

        if self.signature.chooses:
            from enzyme_driver.runtime.transforms.settling import Settling

            settling = Settling(settled, values)
            settling.run(derivative, self._backend.stream_of(launch, settling.given))
        derivative(values, shadows)

    def _check_order(self, launch: Launch, cotangents: Shadows, directions: int | None = None) -> None:
        """Raise RefusedError where threads arrive in another order than in the launch that cotangents come from."""
        if self.signature.unordered and not self._has_one_order(launch):
            rows = cotangents.items() if directions is None else _rows(cotangents, directions)
            check_cotangents(self.signature, rows, self.target)

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
        wrt = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        if wrt is not None and self.narrower and (narrow := self.narrower(wrt)):
            call = partial(cast("Kernel", narrow).vjp._run, launch)  # noqa: SLF001  (any launch, not only grid and block)
            return call(*args, cotangents=cotangents, wrt=wrt, directions=directions, **named)
        entry = self._gradient_entry()
        if cotangents is None:
            raise self._arguments.nothing_given("cotangent")
        if self._is_verified and directions is None:
            found = self._quick.vjp(entry, self._arguments.in_order(args, named), cotangents, wrt, launch)
            if found is not None:
                return found
        bound = self._arguments.bind(args, named)
        product = Vjp(self._arguments, bound, cotangents, wrt, directions)
        self._check_order(launch, cotangents or {}, directions)
        self.verify(bound, launch)
        stream = self._backend.stream_of(launch, product.given)
        return product.run(
            partial(self._differentiate, entry, self._arguments, self._arguments.gradient, launch), stream
        )

    def _run_jvp(
        self,
        launch: Launch,
        /,
        *args: object,
        tangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        entry, arguments = self._forward_entry(), self._tangent_arguments
        if tangents is None:
            raise self._arguments.nothing_given("tangent")
        self._refuse_unordered(launch, "its tangents belong to other threads than an earlier launch's results")
        product = Jvp(arguments, arguments.bind(args, named), tangents, directions)
        stream = self._backend.stream_of(launch, product.given)
        return product.run(partial(self._differentiate, entry, arguments, arguments.forward, launch), stream)

    def _run_hvp(
        self,
        launch: Launch,
        /,
        *args: object,
        tangents: Mapping[str, object] | None = None,
        cotangents: Mapping[str, object] | None = None,
        wrt: Iterable[str] | str | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        entry, twice = self._second_entry(), self._twice_arguments
        if tangents is None or cotangents is None:
            raise self._arguments.nothing_given("tangent" if tangents is None else "cotangent")
        check_by_name(tangents, "tangent")
        self._tangent_arguments.check_shadow_names(tangents, "tangent")
        product = Hvp(self._arguments, twice, self._arguments.bind(args, named), cotangents, wrt)
        self._check_order(launch, cotangents or {})
        stream = self._backend.stream_of(launch, product.given)
        carry = partial(self._differentiate, entry, self._tangent_arguments, twice.forward, launch)
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
        from enzyme_driver.runtime.transforms.check import check_kernel, with_dual_numbers

        bound = self._arguments.bind(args, named)
        with unrecorded():
            self._gradient_entry()
            found = check_kernel(self, bound, launch, seed=seed, tolerance=tolerance, against=against)
            return (found if found.is_settled else with_dual_numbers(found, self, bound, launch)).raised(self)


def _rows(cotangents: Shadows, directions: int) -> list[tuple[str, Any]]:
    """Those of each direction."""
    return [(name, cast("Any", array)[row]) for name, array in cotangents.items() for row in range(directions)]
