"""A CUDA or C++ file as an operator of NumPy, CuPy, PyTorch and JAX: one description of a launch serves all of them."""

from __future__ import annotations

from enzyme_driver.frameworks.description import Operator, operator
from enzyme_driver.frameworks.recorder import Array, Launch, cdiv

__all__ = ["Array", "Launch", "Operator", "cdiv", "operator"]
