"""A C++ function of an artifact as a Python object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from enzyme_driver.errors import ArgumentError, RefusedError
from enzyme_driver.model import RESULT, Parameter
from enzyme_driver.runtime.call.by_name import NONE_GIVEN, check_by_name
from enzyme_driver.runtime.call.launcher import PreparedCall
from enzyme_driver.runtime.call.prepared import PreparedArguments
from enzyme_driver.runtime.call.results import Unsized, room_for, value_returned, with_cotangent
from enzyme_driver.runtime.call.slots import Role, Slot, argument_slot
from enzyme_driver.runtime.call.values import returned, scalar_bytes
from enzyme_driver.runtime.tape.query import Number
from enzyme_driver.runtime.tape.record import recording, unrecorded
from enzyme_driver.runtime.transforms.carried import CarriedArguments
from enzyme_driver.runtime.transforms.functional import Several
from enzyme_driver.runtime.transforms.hvp import Hvp
from enzyme_driver.runtime.transforms.jvp import Jvp
from enzyme_driver.runtime.transforms.vjp import Vjp

if TYPE_CHECKING:
    from enzyme_driver.runtime.transforms.check import CheckResult
from enzyme_driver.runtime.callables import CompiledEntry


class Function(CompiledEntry):
    """A C++ function of the host library: `f(*args)`. Arguments as for `Kernel`."""

    def __call__(self, *args: object, **named: object) -> Any:  # noqa: ANN401
        """The returned number as a Python float or int, a struct as a NumPy record, None for void.

        Raises PrimalError where the code throws.
        """
        entry, tape = self._primal_entry(), recording()
        kind, struct = self.signature.returns, self.signature.result
        data = None if tape else self._quick.primal(entry, self._arguments.in_order(args, named), None)
        if data is not None:
            return returned(data, kind) if kind else None
        bound = self._arguments.bind(args, named)
        if struct and tape:
            raise RefusedError(
                f"{self.name} returns {struct.dtype}, whose members a tape cannot follow",
                hint="write the result through a pointer parameter",
            )
        if tape:
            data = self._recorded(tape, bound, None)
        else:
            data = self._backend.call(entry, self._arguments.primal(bound), kind.size if kind else 0, gradient=False)
        if struct:
            return value_returned(struct, bound)
        result = returned(data, kind) if kind else None
        return Number(result, tape, tape.launches - 1) if tape and isinstance(result, float) else result

    def prepare(self, *args: object, **named: object) -> PreparedCall:
        """Check the arguments of a call now; the call, which can be made many times, see `PreparedCall`."""
        entry, bound = self._primal_entry(), self._arguments.bind(args, named)
        given, struct = self._arguments.primal(bound), self.signature.result
        made = partial(value_returned, struct, bound) if struct else None
        return PreparedCall(self.name, self._backend, entry, given, self.signature.returns, gradient=False, made=made)

    def prepare_gradient(
        self,
        *args: object,
        shadows: Mapping[str, object] = NONE_GIVEN,
        cotangent: Any = 1.0,  # noqa: ANN401
        **named: object,
    ) -> PreparedCall:
        """Check the arguments of a call of `gradient` now; the call, which can be made many times."""
        check_by_name(shadows, "shadow")
        entry, bound = self._gradient_entry(), self._arguments.bind(args, named)
        own = RESULT not in shadows
        bound, shadows, cotangent = self._seeded(bound, shadows, cotangent)
        given = self._with_cotangent(bound, shadows, cotangent)
        before = partial(self.verify, bound, None) if self.guard else None
        seed: Any = shadows.get(RESULT) if own else None
        again = None if seed is None else partial(np.copyto, seed, deepcopy(seed))  # a call consumes it
        name = f"{self.name}.gradient"
        return PreparedCall(name, self._backend, entry, given, None, gradient=True, before=before, made=again)

    def gradient(
        self,
        *args: object,
        shadows: Mapping[str, object] = NONE_GIVEN,
        cotangent: Any = 1.0,  # noqa: ANN401
        **named: object,
    ) -> None:
        """Add `cotangent` times the gradient of the returned number to the shadows, see `Kernel.gradient`."""
        entry = self._gradient_entry()
        plain = self._arguments.in_order(args, named)
        if self._is_verified and self._quick.gradient(entry, plain, shadows, None, cotangent):
            return
        check_by_name(shadows, "shadow")
        bound, shadows, cotangent = self._seeded(self._arguments.bind(args, named), shadows, cotangent)
        self.verify(bound, None)
        self._gradient(bound, shadows, cotangent)

    def vjp(
        self,
        *args: object,
        wrt: Iterable[str] | str | None = None,
        cotangent: Any = 1.0,  # noqa: ANN401
        cotangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        """New arrays with the gradient, see `Kernel.vjp`.

        `cotangent` is that of the returned number, with `directions` one number for all or a sequence of them; that of
        a returned struct is a dict of its members, a tuple of all of them, or a struct.
        """
        wrt = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        self._check_given("cotangent", cotangents)
        cotangent, cotangents = self._seeds(cotangent, cotangents, directions)
        if wrt is not None and self.narrower and (narrow := self.narrower(wrt)):
            call = partial(cast("Any", narrow).vjp, *args, wrt=wrt, cotangent=cotangent, cotangents=cotangents)
            return cast("dict[str, Any]", call(directions=directions, **named))
        entry = self._gradient_entry()
        if self._is_verified and directions is None and isinstance(cotangent, (int, float)):
            found = self._quick.vjp(entry, self._arguments.in_order(args, named), cotangents, wrt, None, cotangent)
            if found is not None:
                return found
        bound = self._with_room(self._arguments.bind(args, named), cotangents, directions)
        product = Vjp(self._arguments, bound, cotangents, wrt, directions)
        self.verify(bound, None)
        each = iter(_one_a_direction(cotangent, directions))
        return product.run(lambda values, shadows: self._gradient(values, shadows, next(each)), None)

    def jvp(
        self,
        *args: object,
        tangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        """The tangents of what the function writes, see `Kernel.jvp`, and that of the returned number as "return"."""
        entry, arguments, kind = self._forward_entry(), self._tangent_arguments, self.signature.returns
        tangents = self._check_given("tangent", tangents)
        product = Jvp(arguments, self._with_room(arguments.bind(args, named)), tangents, directions)
        returns = kind if kind and kind.kind == "float" else None
        struct = self.signature.result
        alone = struct if struct and struct.has_shadow and directions is None else None
        size = returns.size if returns else 0
        results, given = bytearray(), CarriedArguments(arguments)

        def carry(values: Sequence[object], shadows: Mapping[str, object]) -> None:
            results.extend(self._backend.call(entry, given(values, shadows), size, gradient=True))

        def carry_several(values: Sequence[object], shadows: Mapping[str, object], count: int) -> None:
            several, size_of_all = replace(entry, gradient=entry.batch), size * entry.directions
            found = self._backend.call(several, given(values, shadows), size_of_all, gradient=True)
            results.extend(found[: size * count])

        made = product.run(carry, None, Several(entry.directions, carry_several) if entry.batch else None)
        if returns is None:
            return {**made, RESULT: value_returned(alone, [made[RESULT]])} if alone else made
        found = [returned(bytes(results[at : at + size]), returns) for at in range(0, len(results), size)]
        return {**made, RESULT: found[0] if directions is None else np.array(found)}

    def hvp(
        self,
        *args: object,
        tangents: Mapping[str, object] | None = None,
        wrt: Iterable[str] | str | None = None,
        cotangent: Any = 1.0,  # noqa: ANN401
        cotangents: Mapping[str, object] | None = None,
        directions: int | None = None,
        **named: object,
    ) -> dict[str, Any]:
        """The derivatives of `vjp` along tangents, see `Kernel.hvp`: the Hessian of the returned number times these."""
        entry, twice = self._second_entry(), self._twice_arguments
        tangents = self._check_given("tangent", tangents)
        self._check_given("cotangent", cotangents)
        check_by_name(tangents, "tangent")
        self._tangent_arguments.check_shadow_names(tangents, "tangent")
        cotangent, cotangents = self._seeds(cotangent, cotangents, None)
        bound = self._with_room(self._arguments.bind(args, named), cotangents)
        product = Hvp(self._arguments, twice, bound, cotangents, wrt, cotangent)
        given = CarriedArguments(twice)

        def carry(values: Sequence[object], shadows: Mapping[str, object]) -> None:
            self._backend.call(entry, given(values, shadows), 0, gradient=True)

        return product.run(carry, tangents, directions, None)

    def check(self, *args: object, seed: int = 0, tolerance: float | None = None, **named: object) -> CheckResult:
        """Compare the gradient with finite differences, see `Kernel.check`."""
        from enzyme_driver.runtime.transforms.check import check_function, with_dual_numbers

        with unrecorded():
            self._gradient_entry()
            bound = self._with_room(self._arguments.bind(args, named))
            found = check_function(self, bound, seed=seed, tolerance=tolerance)
            return (found if found.is_settled else with_dual_numbers(found, self, bound, None)).raised(self)

    def _check_given(self, role: Role, given: Mapping[str, object] | None) -> Mapping[str, object]:
        """What is given; raises ArgumentError where nothing is, unless the function returns what has a cotangent."""
        if given is None and (role == "tangent" or not (self.signature.returns or self.signature.result)):
            raise self._arguments.nothing_given(role)
        return NONE_GIVEN if given is None else given

    def _with_room(
        self,
        bound: tuple[object, ...],
        cotangents: Mapping[str, object] | None = None,
        directions: int | None = None,
    ) -> tuple[object, ...]:
        """The arguments with an array for a vector that is returned: of the cotangent's size, or of that which a call
        on copies makes.
        """
        struct = self.signature.result
        if struct is None or not isinstance(bound[-1], Unsized):
            return bound
        cotangent = (cotangents or {}).get(RESULT)
        if cotangent is not None:
            return (*bound[:-1], room_for(struct, cotangent, directions))
        copies = [deepcopy(value) for value in bound[:-1]]
        with unrecorded():
            made: Any = self(*copies)
        return (*bound[:-1], np.zeros_like(made))

    def _seeds(
        self,
        cotangent: Any,  # noqa: ANN401
        cotangents: Mapping[str, object] | None,
        directions: int | None,
    ) -> tuple[Any, Mapping[str, object]]:
        """Both, where that of a returned struct is among those of arrays."""
        struct, cotangents = self.signature.result, {} if cotangents is None else cotangents
        if struct is None or not struct.has_shadow:
            return cotangent, cotangents
        slot = Slot(self.signature, struct, "cotangent", self.target, writable=False)
        return 1.0, with_cotangent(slot, cotangent, cotangents, directions)

    def _seeded(
        self,
        bound: tuple[object, ...],
        shadows: Mapping[str, object],
        cotangent: Any,  # noqa: ANN401
    ) -> tuple[tuple[object, ...], Mapping[str, object], Any]:
        """All three, where a copy of the cotangent of what is returned is among the shadows, and has its array."""
        if self.signature.result and RESULT not in shadows:
            cotangent, shadows = self._seeds(cotangent, shadows, None)
            if RESULT in shadows:
                shadows = {**shadows, RESULT: deepcopy(shadows[RESULT])}
        return self._with_room(bound, shadows), shadows, cotangent

    def _gradient(self, values: Iterable[object], shadows: Mapping[str, object], cotangent: float) -> None:
        prepared = self._with_cotangent(values, shadows, cotangent)
        self._backend.call(self._gradient_entry(), prepared, 0, gradient=True)

    def _with_cotangent(
        self, values: Iterable[object], shadows: Mapping[str, object], cotangent: float
    ) -> PreparedArguments:
        """The arguments of a gradient call."""
        prepared = self._arguments.gradient(tuple(values), shadows)
        kind = self.signature.returns
        if kind is None and cotangent != 1.0:
            raise ArgumentError(f"{self.name} returns nothing, so it has no cotangent", hint="leave `cotangent` out")
        if kind is not None:
            slot = argument_slot(self.signature, Parameter("cotangent", "scalar", kind, True, "const"), self.target)
            prepared = prepared.followed_by(scalar_bytes(cotangent, slot))
        return prepared


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
