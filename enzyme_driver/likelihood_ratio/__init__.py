"""Training without back-propagation: gradients by likelihood ratios, beside compiled ones.

    from enzyme_driver import likelihood_ratio as lr
    from enzyme_driver.tensor import Device

    network = lr.MLP([64, 64, 10], Device("openmp"))
    step = network.gradient(images, labels, "LR-F", lr.Noise(sigma=0.3, copies=32, seed=1))

For a layer z = x theta + b + sigma e with e ~ N(0, I), the derivative of E[L] by theta is E[L e x^T / sigma] (Jiang,
Zhang et al., "One Forward is Enough for Neural Network Training via Likelihood Ratio Method", arXiv 2305.08960).
"""

from __future__ import annotations

from enzyme_driver.likelihood_ratio.estimate import METHODS, Gradients, Method
from enzyme_driver.likelihood_ratio.gcn import GCN, normalised
from enzyme_driver.likelihood_ratio.kernels import STORE
from enzyme_driver.likelihood_ratio.mlp import MLP
from enzyme_driver.likelihood_ratio.noise import Noise
from enzyme_driver.likelihood_ratio.primitives import Csr
from enzyme_driver.likelihood_ratio.rnn import RNN
from enzyme_driver.likelihood_ratio.training import Trainer

__all__ = ["GCN", "METHODS", "MLP", "RNN", "STORE", "Csr", "Gradients", "Method", "Noise", "Trainer", "normalised"]
