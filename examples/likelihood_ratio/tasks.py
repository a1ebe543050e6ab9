"""Three tasks for three networks: digits that scikit-learn ships, sequences and a graph that are drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
NODES, LINKS, WORDS, KINDS = 2708, 5429, 1433, 7
"""Of a citation graph of Cora's size."""
LABELLED, VALIDATED, TESTED, WORDS_A_NODE, OWN_WORDS, SAME_KIND = 20, 500, 1000, 18, 0.3, 0.81
STEPS, SYMBOLS, MARKED = 32, 8, 4


@dataclass(frozen=True)
class Samples:
    """Inputs and labels to train on, to choose settings by (validation), and to test with.

    `chance` is what the most frequent label would reach.
    """

    x: Array
    labels: Array
    validation_x: Array
    validation_labels: Array
    test_x: Array
    test_labels: Array

    @property
    def chance(self) -> float:
        return float(np.bincount(self.test_labels).max() / len(self.test_labels))


@dataclass(frozen=True)
class Graph:
    """Edges (each once), words of nodes, their kinds, and which nodes train, choose settings and test."""

    edges: Array
    words: Array
    kinds: Array
    trained: Array
    validated: Array
    tested: Array


def digits(rng: np.random.Generator) -> Samples:
    """Images of 8 x 8 pixels between 0 and 1; a fifth is held out for the test, another for settings."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    x, y = (images[order] / 16).astype(np.float32), labels[order].astype(np.int32)
    fifth = len(x) // 5
    return Samples(x[2 * fifth :], y[2 * fifth :], x[fifth : 2 * fifth], y[fifth : 2 * fifth], x[:fifth], y[:fifth])


def sequences(rng: np.random.Generator, count: int = 9600) -> Samples:
    """Which of four marked symbols stood last in a text of 32 symbols; one in ten is a marked one.

    Shape (steps, samples, symbols), one-hot. A text without a marked symbol gets one at a random place.
    """
    text = rng.integers(MARKED, SYMBOLS, (count, STEPS))
    marks = rng.random((count, STEPS)) < 1 / 10
    marks[np.arange(count), rng.integers(0, STEPS, count)] = True
    text[marks] = rng.integers(0, MARKED, int(marks.sum()))
    last = STEPS - 1 - marks[:, ::-1].argmax(axis=1)
    labels = text[np.arange(count), last].astype(np.int32)
    x = np.eye(SYMBOLS, dtype=np.float32)[text].transpose(1, 0, 2).copy()
    first, second = count // 6, count // 3
    test, validation, training = np.split(x, [first, second], axis=1)
    return Samples(
        training.copy(), labels[second:], validation.copy(), labels[first:second], test.copy(), labels[:first]
    )


def citations(rng: np.random.Generator) -> Graph:
    """A stochastic block model: 81 % of the links are within a kind; three in ten words of a node are of its kind."""
    kinds = rng.integers(0, KINDS, NODES)
    edges: set[tuple[int, int]] = set()
    while len(edges) < LINKS:
        one, other = (int(node) for node in rng.integers(0, NODES, 2))
        if one != other and (kinds[one] == kinds[other]) == (rng.random() < SAME_KIND):
            edges.add((min(one, other), max(one, other)))
    words = np.zeros((NODES, WORDS), np.float32)
    for node in range(NODES):
        own = rng.integers(0, WORDS // KINDS, WORDS_A_NODE) + kinds[node] * (WORDS // KINDS)
        drawn = np.where(rng.random(WORDS_A_NODE) < OWN_WORDS, own, rng.integers(0, WORDS, WORDS_A_NODE))
        words[node, drawn] = 1
    words /= words.sum(axis=1, keepdims=True)
    order = rng.permutation(NODES)
    trained, validated, tested = np.zeros((3, NODES), bool)
    for kind in range(KINDS):
        trained[order[kinds[order] == kind][:LABELLED]] = True
    others = order[~trained[order]]
    tested[others[:TESTED]] = True
    validated[others[TESTED : TESTED + VALIDATED]] = True
    return Graph(np.array(sorted(edges)), words, kinds.astype(np.int32), trained, validated, tested)
