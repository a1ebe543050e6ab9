"""Operators of JAX on the host, with two devices."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import operators_under_test as ops
import pytest

from cuda_kernels import frameworks_check as check

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
jax: Any = pytest.importorskip("jax", reason="JAX is not installed")
pytestmark = [pytest.mark.usefixtures("toolchain", "_double"), pytest.mark.filterwarnings("ignore")]
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((2, 40))
MANY = RNG.standard_normal((3, 40))


@pytest.fixture
def _double() -> Any:
    jax.config.update("jax_enable_x64", True)


def wave(x: Any, a: Any) -> Any:
    return jax.numpy.sin(a * x) * x


def squared(function: Any) -> Any:
    return lambda x, a: jax.numpy.sum(function(x, a) ** 2)


def close(found: Any, wanted: Any) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_derivatives_of_both_modes_and_orders() -> None:
    from jax.test_util import check_grads

    a = jax.numpy.array(1.3)
    check_grads(ops.wave.jax, (jax.numpy.array(X), a), order=2, modes=["rev"])
    check_grads(ops.wave.jax.forward, (jax.numpy.array(X), a), order=1, modes=["fwd"])
    check_grads(lambda *given: ops.weighted.jax(*given) ** 2, (jax.numpy.array(X), a * Y), order=2, modes=["rev"])
    check_grads(ops.decay.jax, (jax.numpy.array(X), jax.numpy.array(Y)), order=1, modes=["rev"])


def test_forward_mode() -> None:
    """A Jacobian, and what does not depend on tangents; tangents may be the arrays themselves."""
    x, a = jax.numpy.array(X), jax.numpy.array(1.3)
    ours = ops.wave.jax.forward
    close(jax.jacfwd(ours, (0, 1))(x, a), jax.jacfwd(wave, (0, 1))(x, a))
    close(jax.linearize(ours, x, a)[1](x, a), jax.linearize(wave, x, a)[1](x, a))
    close(jax.jit(lambda *both: jax.jvp(ours, both, both))(x, a), jax.jvp(wave, (x, a), (x, a)))
    close(jax.jvp(ops.weighted.jax.forward, (x, x), (x, x))[1], 3 * (x**3).sum())


@pytest.mark.parametrize("wrap", ["jit", "checkpoint"])
def test_jit_and_checkpoint(wrap: str) -> None:
    ours = getattr(jax, wrap)(ops.wave.jax)
    close(jax.value_and_grad(squared(ours), (0, 1))(X, 1.3), jax.value_and_grad(squared(wave), (0, 1))(X, 1.3))


def test_batches() -> None:
    both = jax.numpy.array([1.3, 2.0])
    ours, a = ops.wave.jax, jax.numpy.array(1.3)
    close(jax.vmap(ours, (0, None))(MANY, a), wave(MANY, a))
    close(
        jax.vmap(jax.grad(squared(ours), 1), (0, None))(MANY, a),
        jax.vmap(jax.grad(squared(wave), 1), (0, None))(MANY, a),
    )

    def pairs(function: Any) -> Any:
        return lambda a: jax.vmap(jax.vmap(function, (0, None)), (None, 0))(MANY, a).sum()

    close(jax.grad(pairs(ours))(both), jax.grad(pairs(wave))(both))


def test_scan() -> None:
    def loss(function: Any) -> Any:
        def body(state: Any, _: Any) -> Any:
            return function(state, 1.3), state.sum()

        return jax.jit(jax.grad(lambda x: jax.lax.scan(body, x, None, length=5)[1].sum()))

    close(loss(ops.wave.jax)(X), loss(wave)(X))


def test_shard_map_gathers_nothing() -> None:
    from jax.sharding import AxisType, PartitionSpec

    if len(jax.devices()) < 2:
        pytest.skip("JAX was started with one device")
    mesh = jax.make_mesh((2,), ("i",), axis_types=(AxisType.Auto,), devices=jax.devices()[:2])
    along, whole = PartitionSpec("i"), PartitionSpec()
    ours = jax.shard_map(ops.wave.jax, mesh=mesh, in_specs=(along, whole), out_specs=along)
    close(jax.jit(jax.grad(squared(ours), (0, 1)))(X, 1.3), jax.grad(squared(wave), (0, 1))(X, 1.3))
    assert "all-gather" not in jax.jit(ours).lower(X, 1.3).compile().as_text()


def test_export_and_back() -> None:
    pytest.importorskip("flatbuffers", reason="flatbuffers, which jax.export serialises with, is not installed")
    from jax import export

    checks = [export.DisabledSafetyCheck.custom_call("adgen_run")]
    made = export.export(jax.jit(jax.grad(squared(ops.wave.jax))), disabled_checks=checks)(X, 1.3)
    back = export.deserialize(made.serialize())
    close(back.call(X, 1.3), jax.grad(squared(wave))(X, 1.3))


def test_indices_and_a_function() -> None:
    largest, where = ops.row_max.jax(MANY)
    close((largest, where), (MANY.max(1), MANY.argmax(1)))
    close(jax.grad(lambda x: ops.row_max.jax(x)[0].sum())(MANY), (MANY.max(1, keepdims=True) == MANY).astype(float))
    close(jax.grad(ops.weighted.jax)(X, Y), 2 * X * Y)


def test_errors_name_what_is_wrong_and_the_next_call_works() -> None:
    with pytest.raises(Exception, match=r"'x'.*float64"):
        ops.wave.jax(X.astype("f"), 1.3)
    with pytest.raises(Exception, match=r"the operator checked_positive: .*a negative number"):
        jax.jit(ops.checked.jax)(-abs(X) - 1).block_until_ready()
    close(jax.jit(ops.checked.jax)(abs(X)), X * X)
    with pytest.raises(Exception, match=r"running.*floating point"):
        jax.jit(jax.grad(lambda x: ops.running.jax(x)[-1]))(X)
    close(ops.running.jax(X)[-1], X.sum())
    with pytest.raises(Exception, match=r"fails for x: float64\[40\]"):
        ops.row_max.jax(X)
    with pytest.raises(Exception, match="wave: argument 'x' is no array"):
        ops.wave.jax("text", 1.3)
    with pytest.raises(Exception, match=r"decay: argument 'count' is described as int, got .*Tracer"):
        jax.jit(lambda count: ops.decay.jax(X, Y, count))(3)
    with pytest.raises(Exception, match=r"wave: .*forward-mode"):
        jax.jvp(ops.wave.jax, (X, 1.3), (X, 1.3))
    with pytest.raises(Exception, match="wave cannot do third derivatives"):
        jax.grad(jax.grad(jax.grad(lambda a: ops.wave.jax(X, a).sum())))(1.3)
    with pytest.raises(Exception, match="does more than one launch"):
        jax.grad(lambda u: jax.grad(lambda v: ops.decay.jax(v, Y).sum())(u).sum())(X)


@pytest.mark.parametrize("name", check.SAMPLE)
@pytest.mark.parametrize("what", ["jit", "vmap"])
def test_the_collection(name: str, what: str) -> None:
    assert check.outcome(check.subject(check.CASES[name]), check.CHECKS["jax"][what], "cpu") == "ok"
