"""Likelihood ratios: the noise is Philox's, back-propagation is exact, estimates are unbiased whatever the chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from enzyme_driver import likelihood_ratio as lr
from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio import primitives
from enzyme_driver.likelihood_ratio.noise import Draw
from enzyme_driver.tensor.devices import Device, Precision

Numbers = NDArray[np.float64]
Gradient = Callable[[lr.Method, lr.Noise | None], lr.Gradients]
DEVICE = Device("openmp")
ESTIMATES = 60
MASK = 2**32 - 1


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, ...]:
    """Philox4x32-10 in plain integers, after the paper."""
    x, y, z, w = counter
    low, high = key
    for _ in range(10):
        first, second = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = second >> 32 ^ y ^ low, second & MASK, first >> 32 ^ w ^ high, first & MASK
        low, high = low + 0x9E3779B9 & MASK, high + 0xBB67AE85 & MASK
    return x, y, z, w


def test_the_reference_is_philox() -> None:
    """Two of the known answers that the generator's authors give."""
    assert philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox((MASK, MASK, MASK, MASK), (MASK, MASK)) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


def test_noise_is_a_function_of_its_counter() -> None:
    noise, samples = lr.Noise(sigma=1.0, copies=4, seed=77), 3
    drawn = primitives.perturbed(DEVICE, np.zeros((samples, 6)), "linear", Draw(noise, 5, samples, range(4)))
    for row in range(4 * samples):
        copy, sample = divmod(row, samples)
        for quad in range(2):
            words = philox(((copy // 2) * samples + sample, quad, 5, 0), (77, 1))
            unit = [(word + 0.5) / 2**32 for word in words]
            expected = []
            for radius, angle in (unit[:2], unit[2:]):
                length = np.sqrt(-2 * np.log(radius))
                expected += [length * np.cos(2 * np.pi * angle), length * np.sin(2 * np.pi * angle)]
            sign = -1 if copy % 2 else 1
            here = drawn[row, 4 * quad : 4 * quad + 4]
            assert here == pytest.approx(sign * np.array(expected[: len(here)]), rel=2e-5, abs=2e-5)


def test_noise_of_more_rows_than_a_grid_has_behind_its_first_extent() -> None:
    noise, samples = lr.Noise(sigma=1.0, copies=4, seed=77), 20_000
    drawn = primitives.perturbed(DEVICE, np.ones((samples, 3)), "linear", Draw(noise, 5, samples, range(4)))
    assert drawn.shape == (4 * samples, 3)
    np.testing.assert_allclose(drawn[:samples] + drawn[samples : 2 * samples], 2, atol=1e-12)  # of a pair


def flat(found: lr.Gradients) -> Numbers:
    return np.concatenate([np.asarray(each).ravel() for each in found.thetas])


@cache
def models() -> dict[str, tuple[Any, Gradient]]:
    rng = np.random.default_rng(5)
    mlp = lr.MLP([9, 70, 6, 5], DEVICE, dtype=np.float64, activation="tanh", seed=1)
    x, y = rng.normal(size=(7, 9)), rng.integers(0, 5, 7).astype(np.int32)
    rnn = lr.RNN(3, 12, 4, DEVICE, dtype=np.float64, seed=2)
    sequence, classes = rng.normal(size=(12, 5, 3)), rng.integers(0, 4, 5).astype(np.int32)
    edges = np.unique(np.sort(rng.integers(0, 40, (60, 2)), axis=1), axis=0)
    graph = lr.normalised(edges[edges[:, 0] != edges[:, 1]], 40, DEVICE, np.float64)
    gcn = lr.GCN(graph, rng.normal(size=(40, 10)), 6, 3, DEVICE, seed=3)
    kinds, labelled = rng.integers(0, 3, 40).astype(np.int32), rng.random(40) < 0.5
    return {
        "mlp": (mlp, lambda method, noise: mlp.gradient(x, y, method, noise)),
        "rnn": (rnn, lambda method, noise: rnn.gradient(sequence, classes, method, noise)),
        "gcn": (gcn, lambda method, noise: gcn.gradient(kinds, labelled, method, noise)),
    }


@pytest.mark.parametrize("name", ["mlp", "rnn", "gcn"])
def test_back_propagation_is_the_derivative(name: str) -> None:
    model, gradient = models()[name]
    rng = np.random.default_rng(11)
    found = gradient("BP", None)
    directions = [rng.normal(size=theta.shape) for theta in model.thetas]
    step, losses = 1e-5, []
    for sign in (1, -1):
        for theta, direction in zip(model.thetas, directions, strict=True):
            theta[:] = theta + sign * step * direction
        losses.append(gradient("BP", None).loss)
        for theta, direction in zip(model.thetas, directions, strict=True):
            theta[:] = theta - sign * step * direction
    inner = sum(float((each * way).sum()) for each, way in zip(found.thetas, directions, strict=True))
    assert inner == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("method", ["LR-F", "LR-L", "LR-M"])
@pytest.mark.parametrize("name", ["mlp", "rnn", "gcn"])
def test_estimates_are_unbiased(name: str, method: lr.Method) -> None:
    assert_unbiased(name, method)


@pytest.mark.parametrize("kind", [{"antithetic": False, "lattice": True}, {"signs": True}])
def test_estimates_of_other_kinds_are_unbiased(kind: dict[str, bool]) -> None:
    assert_unbiased("mlp", "LR-F", **kind)


def assert_unbiased(name: str, method: lr.Method, **kind: bool) -> None:
    """Their mean lies as far from the exact gradient as their own scatter says, along it and element by element."""
    _, gradient = models()[name]
    exact = flat(gradient("BP", None))
    found = np.array([flat(gradient(method, lr.Noise(0.01, 16, seed, **kind))) for seed in range(ESTIMATES)])
    along = found @ exact / (exact @ exact)
    scatter = along.std(ddof=1) / np.sqrt(ESTIMATES)
    assert scatter < 0.15
    assert abs(along.mean() - 1) < 3 * scatter + 1e-3
    error = found.std(axis=0, ddof=1) / np.sqrt(ESTIMATES)
    drawn = error > 1e-9 * np.abs(exact).max()
    off = (found.mean(axis=0) - exact)[drawn] / error[drawn]
    assert float(np.sqrt((off**2).mean())) < 1.5
    assert np.allclose(found[:, ~drawn], exact[~drawn], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["mlp", "rnn", "gcn"])
def test_the_chunk_does_not_matter(name: str) -> None:
    _, gradient = models()[name]
    noise = lr.Noise(0.1, copies=8, seed=4)
    whole = flat(gradient("LR-F", noise))
    assert flat(gradient("LR-F", replace(noise, chunk=2))) == pytest.approx(whole, rel=1e-10, abs=1e-12)
    assert not np.allclose(flat(gradient("LR-F", noise.at(1))), whole)


def test_a_seed_that_is_used_twice() -> None:
    """Its estimate comes again, bit by bit; layers and steps of training draw other noise with it."""
    _, gradient = models()["mlp"]
    noise = lr.Noise(0.1, copies=4, seed=7)
    first = flat(gradient("LR-F", noise))
    np.testing.assert_array_equal(flat(gradient("LR-F", noise)), first)
    zeros, copies = np.zeros((1, 64)), range(noise.copies)
    drawn = [primitives.perturbed(DEVICE, zeros, "linear", Draw(noise, stream, 1, copies)) for stream in (0, 1)]
    assert not np.allclose(*drawn)
    steps = 2**17
    assert len({noise.at(step).seed for step in range(steps)}) == steps


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sigma": 0.0}, "sigma is 0.0"),
        ({"sigma": -1.0}, "sigma is -1.0"),
        ({"sigma": float("nan")}, "sigma is nan"),
        ({"sigma": 1.0, "copies": 3}, "3 copies are no pairs"),
        ({"sigma": 1.0, "copies": 0}, "0 copies"),
        ({"sigma": 1.0, "copies": 4, "chunk": 1}, "1 copies a chunk are no pairs"),
        ({"sigma": 1.0, "seed": -1}, "seed -1"),
        ({"sigma": 1.0, "lattice": True}, "pairs, or a lattice"),
    ],
)
def test_noise_that_means_nothing(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        lr.Noise(**given)


def test_a_loss_that_is_not_finite_names_its_copy() -> None:
    mlp = lr.MLP([9, 70, 6, 5], DEVICE, dtype=np.float64, activation="tanh", seed=1)
    x, labels = np.zeros((2, 9)), np.zeros(2, np.int32)
    with pytest.raises(ArgumentError, match=r"sample \d is not finite in copy \d"):
        mlp.gradient(x, labels, "LR-F", lr.Noise(1e308, copies=4))
    mlp.thetas[0][:] = np.nan
    with pytest.raises(ArgumentError, match="sample 0 is not finite in copy 0"):
        mlp.gradient(x, labels)


def test_training_learns_and_has_the_same_noise_as_by_hand() -> None:
    """The trainer's noise is `Noise.at` of each step, and its update Adam's."""
    mlp = lr.MLP([9, 70, 6, 5], DEVICE, dtype=np.float64, activation="tanh", seed=1)
    rng = np.random.default_rng(5)
    x, labels, noise = rng.normal(size=(7, 9)), rng.integers(0, 5, 7).astype(np.int32), lr.Noise(0.1, copies=4, seed=9)
    before = [theta.copy() for theta in mlp.thetas]
    first = mlp.gradient(x, labels, "LR-F", noise.at(0)).thetas
    trainer = lr.Trainer(
        DEVICE, mlp.thetas, 1e-2, lambda some, own, drawn: mlp.gradient(some, own, "LR-F", drawn), noise
    )
    loss = mlp.gradient(x, labels).loss
    trainer.step(x, labels)
    for theta, old, gradient in zip(mlp.thetas, before, first, strict=True):
        assert theta == pytest.approx(old - 1e-2 * gradient / (np.abs(gradient) + 1e-8 / 0.001**0.5), abs=1e-9)
    for _ in range(40):
        trainer.step(x, labels)
    trainer.check()
    assert mlp.gradient(x, labels).loss < 0.5 * loss


def test_methods_and_cuts_that_do_not_exist() -> None:
    mlp, gradient = models()["mlp"]
    with pytest.raises(ArgumentError, match="is no method"):
        gradient("LR-X", lr.Noise(1.0))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="LR-L needs noise"):
        gradient("LR-L", None)
    x, labels = np.zeros((2, 9)), np.zeros(2, np.int32)
    for cuts in ([2], [1, 0], [-1], []):
        with pytest.raises(ArgumentError, match="do not part 3 layers"):
            mlp.gradient(x, labels, "LR-M", lr.Noise(1.0), cuts=cuts)
    rnn, _ = models()["rnn"]
    with pytest.raises(ArgumentError, match="5 segments do not divide 12 steps"):
        rnn.gradient(np.zeros((12, 2, 3)), labels, "LR-M", lr.Noise(1.0), segments=5)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize(("precision", "tolerance"), [("tf32", 2e-3), ("bfloat16", 2e-2), ("float16", 2e-2)])
def test_on_tensor_cores_noise_and_estimates_are_the_same(precision: Precision, tolerance: float, steps: int) -> None:
    """But for rounding; no shape is a multiple of a tile."""
    rng, rounding = np.random.default_rng(6), Device("openmp", precision)
    x, theta = rng.normal(size=(21, 37)).astype(np.float32), rng.normal(size=(38, 70)).astype(np.float32) / 8
    draw = Draw(lr.Noise(0.3, copies=6, seed=5), 2, 21 // steps, range(2, 6), steps)
    weight = rng.normal(size=draw.rows).astype(np.float32) * np.float32(1e-6)
    found = []
    for device in (DEVICE, rounding):
        gradient = np.zeros_like(theta)
        primitives.score(device, x, weight, gradient, draw)
        found.append((gradient, primitives.dense(device, x, theta, "tanh", replace(draw, samples=21, steps=1))))
    for exact, rounded in zip(*found, strict=True):
        off = float(abs(rounded - exact).max() / abs(exact).max())
        assert 0 < off < tolerance
