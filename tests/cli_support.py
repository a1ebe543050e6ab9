"""Runs `adgen` as a process of its own, in a folder and with a cache of the test's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KERNELS = """\
template <typename T> __global__ void axpy(T alpha, const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += alpha * x[i] * x[i];
}

__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i] * sinf(x[i]);
}
"""

FUNCTIONS = """\
#include <cmath>
#include <stdexcept>

double loss(const double *x, int n) {
    if (n < 0) throw std::invalid_argument("n is negative");
    double sum = 0;
    for (int i = 0; i < n; i++) sum += std::exp(0.1 * x[i]) * x[i];
    return sum;
}
"""


@dataclass(frozen=True)
class Adgen:
    """A user's folder with `kernels.cu` and `functions.cpp`."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "kernels.cu").write_text("#ifndef FACTOR\n#define FACTOR 2\n#endif\n" + KERNELS)
        (self.folder / "functions.cpp").write_text(FUNCTIONS)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "ADGEN_CACHE_DIR": str(self.cache), **self.variables}

    @property
    def cache(self) -> Path:
        return self.folder.parent / f"{self.folder.name}-cache"

    def __call__(self, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "enzyme_driver", *arguments, variables=variables)

    def python(self, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, variables=variables) as process:
            out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def start(self, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**self.environment, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    @property
    def cached(self) -> list[Path]:
        """Entries, and what should not be left behind."""
        rooms = [self.cache / "v1" / room for room in ("entries", "building")]
        return [path for room in rooms if room.is_dir() for path in room.iterdir()]
