"""A graph convolutional network of two layers that classifies the nodes of one graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from enzyme_driver.errors import ArgumentError
from enzyme_driver.likelihood_ratio import primitives
from enzyme_driver.likelihood_ratio.estimate import Gradients, Method, checked, finite
from enzyme_driver.likelihood_ratio.noise import Draw, Noise
from enzyme_driver.likelihood_ratio.primitives import Array, Csr
from enzyme_driver.tensor.devices import Device


def normalised(edges: np.ndarray[Any, Any], nodes: int, device: Device, dtype: type[np.floating[Any]]) -> Csr:
    """D^-1/2 (A + I) D^-1/2 of an undirected graph, with D its degrees (Kipf and Welling, 2017).

    `edges` has the shape (edges, 2), each edge once. Raises ArgumentError for a node that does not exist.
    """
    if edges.size and not 0 <= edges.min() <= edges.max() < nodes:
        raise ArgumentError(f"an edge leads to a node that is none of {nodes}", hint="number the nodes from 0")
    both = np.vstack([edges, edges[:, ::-1], np.repeat(np.arange(nodes), 2).reshape(-1, 2)])
    row, column = np.unique(both, axis=0).T
    degree = np.bincount(row, minlength=nodes)
    value = 1 / np.sqrt(degree[row] * degree[column])
    begin = np.concatenate([[0], np.cumsum(degree)])
    return Csr(
        device.from_host(begin, np.dtype(np.int32)),
        device.from_host(column, np.dtype(np.int32)),
        device.from_host(value, np.dtype(dtype)),
    )


class GCN:
    """relu(A x theta_0) and A h theta_1, with A the normalised adjacency; cross entropy of the labelled nodes.

    A x is computed once, when the model is made. `thetas` are matrices whose last row is the bias.
    """

    def __init__(self, graph: Csr, x: Array, hidden: int, classes: int, device: Device, *, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.device = device
        self.graph = graph
        self._labelled: Array = None
        self._count = 0
        self.near = primitives.propagate(device, graph, x)
        self.thetas = [
            device.from_host(np.vstack([rng.normal(0, np.sqrt(2 / (a + b)), (a, b)), np.zeros((1, b))]), x.dtype)
            for a, b in ((x.shape[1], hidden), (hidden, classes))
        ]

    def logits(self) -> Array:
        """Shape (nodes, classes)."""
        return self._second(primitives.dense(self.device, self.near, self.thetas[0], "relu"))

    def gradient(self, labels: Array, labelled: Array, method: Method = "BP", noise: Noise | None = None) -> Gradients:
        """The derivative of the mean cross entropy over the nodes for which `labelled` (bool, nodes) holds.

        `labels` are int32 (nodes). A node's noise changes the losses of its neighbours only, so the weight of a node's
        noise is the sum of their changes, which leaves the estimate unbiased. "LR-F": both layers are perturbed in one
        forward. "LR-L": one after the other. "LR-M": the first layer is perturbed, the second has its exact gradient.
        Raises ArgumentError.
        """
        drawn = checked(method, noise)
        z = primitives.dense(self.device, self.near, self.thetas[0], "linear")
        h = self.device.arrays.maximum(z, 0)
        logits = self._second(h)
        losses = primitives.cross_entropy(self.device, logits, labels) * labelled
        if self._labelled is not labelled:
            self._labelled, self._count = labelled, int(labelled.sum())
        count = self._count
        finite(self.device, losses, len(labels), range(1))
        if drawn is None:
            return Gradients(losses, self._back(h, logits, labels, labelled, count), count)
        zero = [self.device.arrays.zeros_like(theta) for theta in self.thetas]
        if method == "LR-M":
            zero[1] = self._back(h, logits, labels, labelled, count, first=False)[0]
        for layers in ((0, 1),) if method == "LR-F" else ((0,), (1,)) if method == "LR-L" else ((0,),):
            self._estimate(zero, layers, z, losses, labels, labelled / count, drawn)
        return Gradients(losses, zero, count)

    def _second(self, h: Array, draw: Draw | None = None) -> Array:
        return primitives.dense(
            self.device, primitives.propagate(self.device, self.graph, h), self.thetas[1], "linear", draw
        )

    def _back(
        self, h: Array, logits: Array, labels: Array, labelled: Array, count: int, *, first: bool = True
    ) -> list[Array]:
        of_logits = primitives.cross_entropy_gradient(self.device, logits, labels)
        of_logits *= (labelled * (len(labels) / count))[:, None].astype(logits.dtype)
        spread = primitives.propagate(self.device, self.graph, h)
        of_spread, of_second = primitives.dense_gradient(
            self.device, spread, self.thetas[1], "linear", logits.copy(), of_logits, inputs=first
        )
        if not first:
            return [of_second]
        of_h = primitives.propagate_gradient(self.device, self.graph, of_spread)
        _, of_first = primitives.dense_gradient(
            self.device, self.near, self.thetas[0], "relu", h.copy(), of_h, inputs=False
        )
        return [of_first, of_second]

    def _estimate(
        self,
        gradients: list[Array],
        layers: tuple[int, ...],
        z: Array,
        losses: Array,
        labels: Array,
        share: Array,
        noise: Noise,
    ) -> None:
        """All copies share `z`, what the first layer gives before its activation: its inputs are multiplied once."""
        nodes, of_z = len(labels), self.device.arrays.zeros_like(z)
        for copies in noise.chunks():
            first, second = (Draw(noise, layer, nodes, copies) if layer in layers else None for layer in (0, 1))
            if first:
                inner = primitives.perturbed(self.device, z, "relu", first)
            else:
                inner = self.device.arrays.tile(self.device.arrays.maximum(z, 0), (len(copies), 1))
            spread = primitives.propagate(self.device, self.graph, inner)
            logits = primitives.dense(self.device, spread, self.thetas[1], "linear", second)
            changed = primitives.cross_entropy(self.device, logits, labels).reshape(len(copies), nodes)
            finite(self.device, changed.ravel(), nodes, copies)
            own = ((changed * (share > 0) - losses) * (share / (noise.sigma * noise.copies))).astype(logits.dtype)
            if first:
                primitives.score_cotangent(self.device, self._neighbours(own), of_z, first)
            if second:
                primitives.score(self.device, spread, own.ravel(), gradients[1], second)
        if 0 in layers:
            _, of_theta = primitives.dense_gradient(
                self.device, self.near, self.thetas[0], "linear", z.copy(), of_z, inputs=False
            )
            gradients[0] += of_theta

    def _neighbours(self, own: Array) -> Array:
        """For each node and copy the sum over its neighbours and itself."""
        pattern = Csr(self.graph.begin, self.graph.neighbour, self.device.arrays.ones_like(self.graph.value))
        rows = self.device.arrays.ascontiguousarray(own.reshape(-1, 1))
        return primitives.propagate(self.device, pattern, rows).ravel()
