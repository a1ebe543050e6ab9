"""Operators of PyTorch on the host."""

from __future__ import annotations

import importlib
from typing import Any

import operators_under_test as ops
import pytest

import enzyme_driver as adgen
from cuda_kernels import frameworks_check as check

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [pytest.mark.usefixtures("toolchain"), pytest.mark.filterwarnings("ignore")]


def double(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def number() -> Any:
    return torch.tensor(1.3, dtype=torch.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
    assert ops.wave.torch.op  # some tests take torch.ops.adgen.wave


def test_derivatives_of_both_modes_and_orders() -> None:
    assert torch.autograd.gradcheck(ops.wave.torch, (double(20), number()), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(ops.wave.torch, (double(20), number()))
    assert torch.autograd.gradcheck(ops.decay.torch, (double(20), double(20)), check_forward_ad=True)


def test_opcheck() -> None:
    x, row = torch.randn(6, 5, requires_grad=True), torch.randn(5, requires_grad=True)
    torch.library.opcheck(ops.layer_norm.torch.op, (x, row, row), {"eps": 1e-3})
    seed = torch.randn(20, dtype=torch.float64)
    torch.library.opcheck(torch.ops.adgen.wave_vjp.default, (double(20), number(), [seed], [True, False]))
    torch.library.opcheck(ops.row_max.torch.op, (double(3, 4),))


def test_against_pytorch_itself() -> None:
    x, gamma, beta = torch.randn(6, 5, requires_grad=True), torch.randn(5), torch.randn(5, requires_grad=True)
    seed = torch.randn(6, 5)
    ours = ops.layer_norm.torch(x.t().contiguous().t(), gamma, beta)
    theirs = torch.nn.functional.layer_norm(x, (5,), gamma, beta, 1e-5)
    torch.testing.assert_close(ours, theirs)
    for found, wanted in zip(
        torch.autograd.grad(ours, (x, beta), seed), torch.autograd.grad(theirs, (x, beta), seed), strict=True
    ):
        torch.testing.assert_close(found, wanted)


def test_compile_with_dynamic_shapes_compiles_once() -> None:
    testing = importlib.import_module("torch._dynamo.testing")  # not there by `import torch` alone
    counter = testing.CompileCounterWithBackend("aot_eager")
    row = torch.randn(5, requires_grad=True)
    new = adgen.operator(ops.layer_norm.code.path, kernel="layer_norm", name="first_used_there")(
        ops.layer_norm.describe
    )
    compiled = torch.compile(lambda x: new.torch(x * 2, row, row).sin(), fullgraph=True, backend=counter)
    for rows in (3, 7, 9):
        x = torch.randn(rows, 5)
        torch._dynamo.mark_dynamic(x, 0)
        torch.testing.assert_close(compiled(x), ops.layer_norm.torch(x * 2, row, row).sin())
    assert counter.frame_count == 1


def test_export() -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, row: Any) -> Any:
            return ops.layer_norm.torch(x, row, row) + 1

    rows = torch.export.Dim("rows")
    exported = torch.export.export(
        Model(), (torch.randn(6, 5), torch.randn(5)), dynamic_shapes={"x": {0: rows}, "row": None}
    )
    x, row = torch.randn(9, 5), torch.randn(5)
    torch.testing.assert_close(exported.module()(x, row), Model()(x, row))


def test_transformations() -> None:
    many, a = torch.randn(3, 20, dtype=torch.float64), number().detach()
    func, wave = torch.func, ops.wave.torch
    torch.testing.assert_close(func.vmap(wave, (0, None))(many, a), wave(many, a))
    by_number = func.grad(lambda x, s: wave(x, s).sum(), argnums=1)
    torch.testing.assert_close(
        func.vmap(by_number, (0, None))(many, a), torch.stack([by_number(row, a) for row in many])
    )
    twice = func.vmap(func.vmap(wave, (0, None)), (None, 0))(many, torch.stack([a, 2 * a]))
    torch.testing.assert_close(twice[1], wave(many, 2 * a))
    torch.testing.assert_close(func.jacfwd(wave)(many[0], a), func.jacrev(wave)(many[0], a))
    hessian = func.jacrev(func.grad(lambda x: wave(x, a).sum()))(many[0])
    x = many[0]
    exact = 2 * a * torch.cos(a * x) - a * a * x * torch.sin(a * x)
    torch.testing.assert_close(hessian, torch.diag(exact))


def plain_wave(x: Any, a: Any) -> Any:
    return torch.sin(a * x) * x


def squared(function: Any) -> Any:
    return lambda x, a: (function(x, a) ** 2).sum()


def mapped(function: Any) -> Any:
    return torch.func.vmap(function, (0, None))


TOGETHER: dict[str, Any] = {
    "hessian": lambda f: torch.func.hessian(squared(f), (0, 1)),
    "jvp of grad": lambda f: lambda x, a: torch.func.jvp(torch.func.grad(squared(f), (0, 1)), (x, a), (x, a)),
    "vmap of hessian": lambda f: mapped(torch.func.hessian(squared(f), (0, 1))),
    "hessian of vmap": lambda f: torch.func.hessian(squared(mapped(f)), (0, 1)),
    "jacrev of grad of vmap": lambda f: torch.func.jacrev(torch.func.grad(squared(mapped(f)), (0, 1)), 1),
    "grad of vmap of grad": lambda f: torch.func.grad(squared(mapped(torch.func.grad(squared(f), 0))), (0, 1)),
    "jvp of vmap of grad": lambda f: (
        lambda x, a: torch.func.jvp(mapped(torch.func.grad(squared(f), (0, 1))), (x, a), (x.cos(), a))
    ),
    "vmap of vmap of grad": lambda f: (
        lambda x, a: torch.func.vmap(mapped(torch.func.grad(squared(f), (0, 1))), (None, 0))(x, torch.stack([a, 2 * a]))
    ),
    "vmap of jvp of vmap": lambda f: (
        lambda x, a: torch.func.vmap(lambda b: torch.func.jvp(mapped(f), (x, b), (x.sin(), b)))(torch.stack([a, -a]))
    ),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_transformations_of_transformations(what: str) -> None:
    x, a = torch.randn(3, 7, dtype=torch.float64), number().detach()
    if what in {"hessian", "jvp of grad"}:
        x = x[0]
    torch.testing.assert_close(TOGETHER[what](ops.wave.torch)(x, a), TOGETHER[what](plain_wave)(x, a))


def test_tangents_that_lie_where_the_primals_do() -> None:
    both = torch.randn(20, dtype=torch.float64), number().detach()
    torch.testing.assert_close(torch.func.jvp(ops.wave.torch, both, both), torch.func.jvp(plain_wave, both, both))
    u, k = torch.rand(2, 20, dtype=torch.float64)
    apart = torch.func.jvp(ops.decay.torch, (u, k), (u.clone(), k.clone()))
    torch.testing.assert_close(torch.func.jvp(ops.decay.torch, (u, k), (u, k)), apart)


def traced(function: Any) -> Any:
    return lambda x, t: torch.func.linearize(function, x)[1](t)


def compiled(function: Any) -> Any:
    return torch.compile(lambda x, t: torch.func.jvp(function, (x,), (t,))[1], fullgraph=True, backend="aot_eager")


def of_duals(function: Any) -> Any:
    forward = torch.autograd.forward_ad

    def tangent(x: Any, t: Any) -> Any:
        with forward.dual_level():
            return forward.unpack_dual(function(forward.make_dual(x, t))).tangent

    return tangent


@pytest.mark.parametrize("how", [traced, compiled, of_duals])
def test_ops_carry_tangents(how: Any) -> None:
    """PyTorch alone would say that these are zero."""
    x, t = torch.randn(2, 20, dtype=torch.float64)
    a = number().detach()
    for function in (ops.wave.torch, torch.ops.adgen.wave):
        found = how(lambda x, f=function: f(x, a))(x, t)
        torch.testing.assert_close(found, torch.func.jvp(lambda x: plain_wave(x, a), (x,), (t,))[1])


def test_what_ops_cannot_carry_is_an_error() -> None:
    x, t, a = double(5), torch.ones(5, dtype=torch.float64), number()
    with pytest.raises(adgen.UsageError, match="wave cannot do forward mode over reverse mode"):
        of_duals(lambda x: torch.ops.adgen.wave_vjp(x, a, [t], [True, False])[0])(x.detach(), t)
    with pytest.raises(adgen.UsageError, match="wave cannot do reverse mode over forward mode"):
        torch.autograd.grad(torch.ops.adgen.wave_jvp(x, a, [t, None])[0].sum(), x)
    with pytest.raises(adgen.UsageError, match="wave cannot do third derivatives"):
        torch.autograd.grad(torch.ops.adgen.wave_second(x, a, [t], [t, None])[0].sum(), x)


def test_one_array_for_two_parameters() -> None:
    assert torch.autograd.gradcheck(ops.squares.torch, (double(9),), check_forward_ad=True)


def test_cotangents_of_another_kind_are_an_error() -> None:
    x, a = double(20), number()
    for seed in (torch.ones(3, dtype=torch.float64), torch.ones(20)):
        with pytest.raises(adgen.ArgumentError, match=r"wave: a tensor of .* for one of float64\[20\]"):
            torch.ops.adgen.wave_vjp(x.detach(), a.detach(), [seed], [True, True])


def test_a_map_over_no_examples() -> None:
    a = number()
    for function in (ops.wave.torch, torch.ops.adgen.wave):
        made = torch.func.vmap(function, (0, None))(double(0, 5), a)
        assert made.shape == (0, 5)
    assert torch.autograd.grad(torch.func.vmap(ops.wave.torch, (0, None))(double(0, 5), a).sum(), a)[0] == 0


class Labelled(torch.Tensor):  # type: ignore[misc]
    """A subclass, whose calls are not looked up."""


def test_a_call_that_is_not_looked_up_is_not_remembered_for_the_one_before() -> None:
    u, k = torch.rand(2, 17, dtype=torch.float64)
    for wrong in (k.float(), k.float()[:5]):
        with pytest.raises(adgen.ArgumentError, match="'k'"):
            ops.decay.torch(u, wrong)  # missed, and not learnt
        torch.testing.assert_close(
            ops.wave.torch(u.as_subclass(Labelled), number()).detach().as_subclass(torch.Tensor),
            plain_wave(u, number()).detach(),
        )
        with pytest.raises(adgen.ArgumentError, match="'k'"):
            ops.decay.torch(u, wrong)


def test_derivatives_of_a_number_that_a_function_returns() -> None:
    arrays = double(9), double(9)
    assert torch.autograd.gradcheck(ops.weighted.torch, arrays, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda *given: ops.weighted.torch(*given) ** 2, arrays)


def test_a_map_is_compiled_with_its_gradient() -> None:
    a = number()

    def loss(function: Any) -> Any:
        return lambda x, a: (mapped(mapped(function))(x.sin(), a) ** 2).sum()

    compiled = torch.compile(loss(ops.wave.torch), fullgraph=True, dynamic=True, backend="aot_eager")
    for examples in (3, 4, 6):
        x = double(examples, 2, 5)
        found, wanted = (torch.autograd.grad(f(x, a), (x, a)) for f in (compiled, loss(plain_wave)))
        torch.testing.assert_close(found, wanted)
    torch.library.opcheck(torch.ops.adgen.wave_mapped.default, (double(3, 5), a, 3, [True, False]))


def test_no_work_for_what_nobody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    true = ops.wave.torch.calls.product

    def noted(*given: Any) -> Any:
        asked.append(given[3])
        return true(*given)

    monkeypatch.setattr(ops.wave.torch.calls, "product", noted)
    ops.wave.torch(double(23), number().detach()).sum().backward()
    assert asked == [(True, False)]


def test_empty_tensors_indices_and_meta() -> None:
    row = torch.ones(5, requires_grad=True)
    ops.layer_norm.torch(torch.empty(0, 5), row, row).sum().backward()
    assert (row.grad == 0).all()
    largest, where = ops.row_max.torch(double(3, 4))
    assert largest.requires_grad
    assert not where.requires_grad
    assert ops.layer_norm.torch(torch.empty(6, 5, device="meta"), row.to("meta"), row.to("meta")).shape == (6, 5)


def test_deterministic_sums() -> None:
    row, x = torch.randn(5, requires_grad=True), torch.randn(400, 5)
    torch.use_deterministic_algorithms(mode=True)
    try:
        first, second = (
            torch.autograd.grad(ops.layer_norm.torch(x, row, row).square().sum(), row)[0] for _ in range(2)
        )
    finally:
        torch.use_deterministic_algorithms(mode=False)
    assert (first == second).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.decay.torch(torch.ones(3), torch.ones(3)), "'u'.*float64"),
        (lambda: ops.decay.torch(double(3).to("meta"), double(3)), "'k' is on cpu, the others are on meta"),
        (lambda: ops.layer_norm.torch(torch.ones(4), torch.ones(4), torch.ones(4)), r"fails for x: float32\[4\]"),
        (lambda: ops.checked.torch(-double(3).abs() - 1), "the operator checked_positive.* a negative number"),
        (lambda: ops.checked.torch(double(3).detach().to_sparse()), "'x' is a torch.sparse_coo tensor"),
        (lambda: ops.decay.torch(double(3), double(3), torch.ones((), requires_grad=True)), "'count'.*requires a grad"),
    ],
)
def test_bad_input_is_an_error_and_the_next_call_works(call: Any, message: str) -> None:
    with pytest.raises(Exception, match=message):
        call()
    assert ops.checked.torch(torch.full((1,), 3.0, dtype=torch.float64)).item() == pytest.approx(9)


def test_a_gradient_that_was_refused_and_modes_that_are_not_there() -> None:
    x = double(9)
    for _ in range(2):
        y = ops.running.torch(x)
        assert float(y[-1]) == pytest.approx(float(x.sum()))
        with pytest.raises(adgen.RefusedError, match=r"running.*floating point"):
            y.sum().backward()
    row = torch.ones(5)
    with pytest.raises(adgen.AdgenError, match="layer_norm"):
        torch.func.jvp(lambda x: ops.layer_norm.torch(x, row, row), (torch.ones(2, 5),), (torch.ones(2, 5),))
    assert ops.layer_norm.torch(torch.ones(2, 5), row, row).shape == (2, 5)


def test_two_operators_of_one_name() -> None:
    assert ops.wave.torch.op
    second = adgen.operator(ops.wave.code.path, kernel="wave", name="wave")(ops.wave.describe)
    with pytest.raises(adgen.UsageError, match="'wave' already"):
        _ = second.torch
    assert ops.wave.torch(double(3), number()).shape == (3,)


@pytest.mark.parametrize("name", check.SAMPLE)
@pytest.mark.parametrize("what", ["gradient", "opcheck", "vmap"])
def test_the_collection(name: str, what: str) -> None:
    assert check.outcome(_subject(name), check.CHECKS["torch"][what], "cpu") == "ok"


_SUBJECTS: dict[str, check.Subject] = {}


def _subject(name: str) -> check.Subject:
    if name not in _SUBJECTS:
        _SUBJECTS[name] = check.subject(check.CASES[name])
    return _SUBJECTS[name]


def test_eager_calls_run_without_python() -> None:
    """What is known is run by the op in C++: other shapes, strides, conjugation and signs are not mistaken for it."""
    from enzyme_driver.frameworks import torch_native

    assert torch_native.is_there()
    x, a = double(20), number()
    first = ops.wave.torch(x, a)
    (known,) = torch_native.run_known(ops.wave.torch.calls._number(()), [x.detach(), a.detach()])
    torch.testing.assert_close(known, first.detach(), rtol=0, atol=0)
    strided = torch.randn(40, dtype=torch.float64)[::2]
    torch.testing.assert_close(ops.wave.torch(strided, a), ops.wave.torch(strided.contiguous(), a))
    negated = torch.randn(20, dtype=torch.complex128).conj().imag
    assert negated.is_neg()
    torch.testing.assert_close(ops.wave.torch(negated, a), ops.wave.torch(negated.resolve_neg(), a))
    assert ops.wave.torch(double(7), a).shape == (7,)


def test_what_fails_without_python_says_so_as_before() -> None:
    x = torch.ones(4, dtype=torch.float64)
    ops.checked.torch(x)
    for _ in range(2):
        with pytest.raises(adgen.PrimalError, match="negative"):
            ops.checked.torch(-x)


def gradients(x: Any, a: Any, *, create_graph: bool = False) -> tuple[Any, ...]:
    found: tuple[Any, ...] = torch.autograd.grad((ops.wave.torch(x, a) ** 2).sum(), (x, a), create_graph=create_graph)
    return found


def test_known_calls_are_recorded_without_python() -> None:
    x, a = double(21), number()
    first = gradients(x, a)
    assert "CppFunction" in type(ops.wave.torch(x, a).grad_fn).__name__
    for _ in range(2):  # its gradient is looked for in C++, and asked of Python once
        for found, wanted in zip(gradients(x, a), first, strict=True):
            torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    for found, wanted in zip(gradients(x, a, create_graph=True), first, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)
        assert found.requires_grad
    assert torch.autograd.gradcheck(ops.wave.torch, (x, a))
    assert torch.autograd.gradgradcheck(ops.wave.torch, (x, a))


def test_what_was_recorded_without_python_behaves_as_pytorchs_own() -> None:
    x, a = double(22), number()
    gradients(x, a)
    y = ops.wave.torch(x, a)
    (mapped,) = torch.func.vmap(lambda seed: torch.autograd.grad(y, (x,), seed, retain_graph=True))(
        torch.eye(22).double()
    )
    (row,) = torch.autograd.grad(y, (x,), torch.eye(22).double()[3], retain_graph=True)
    torch.testing.assert_close(mapped[3], row)
    with pytest.raises(adgen.UsageError, match="is_grads_batched"):
        torch.autograd.grad(y, (x,), torch.eye(22).double(), is_grads_batched=True, retain_graph=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    y = ops.wave.torch(x, a)
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with torch.no_grad():
        assert ops.wave.torch(x, a).grad_fn is None
    detached = ops.wave.torch(x.detach(), a.detach())
    assert not detached.requires_grad
