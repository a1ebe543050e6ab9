"""The derivative check of a program with its arguments on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from programs.program import Program
from programs.soundness import with_arrays

from cuda_kernels.places import Gpu


def assert_right_on_gpu(kernel: Any, program: Program, seed: int) -> None:  # noqa: ANN401  (an adgen.Kernel)
    """Raises CheckFailedError where the gradient is not that of the primal, on fresh random arguments."""
    gpu = Gpu()
    args = program.make(np.random.default_rng(seed))
    placed = {name: with_arrays(value, gpu.put) for name, value in args.items()}
    kernel.check[program.launch](*placed.values(), seed=seed, tolerance=program.tolerance)
