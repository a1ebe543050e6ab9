"""Runs the whole collection and the examples on a GPU, from artifacts that build_all.py made, and writes a JSON file.

    python -m cuda_kernels.gpu_check FOLDER --output gpu.json

Needs the artifacts, NumPy and CuPy, and no compiler. Every kernel's primal and gradient are compared with the reference
(finite differences in float64), the gradient with that of the host library on the same arguments, and with itself in
two more runs; no cubin may call the device's malloc. `--kernels-only` is for `python -m cuda_kernels.sanitizer`: once,
and on the GPU alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

import enzyme_driver as adgen
from cuda_kernels.build_all import EXAMPLES
from cuda_kernels.case import Case
from cuda_kernels.check import difference, run_case, tolerance
from cuda_kernels.places import Gpu, Host
from cuda_kernels.suite import CASES
from enzyme_driver.artifact import read

SCRIPTS = {
    "black_scholes": ["black_scholes/demo.py"],
    "heat2d": ["heat2d/recover.py", "--target", "cuda"],
    "nbody": ["nbody/forces.py", "--target", "cuda"],
    "least_squares": ["least_squares/fit.py"],
}


@dataclass(frozen=True)
class KernelResult:
    """Errors of one case on the GPU, how far its gradient is from the host's and from itself; None where not run."""

    name: str
    tolerance: float
    primal_error: float | None = None
    gradient_error: float | None = None
    host_gradient_error: float | None = None
    host_difference: float | None = None
    repeat_difference: float | None = None
    failure: str | None = None

    @property
    def ok(self) -> bool:
        needed = (self.primal_error, self.gradient_error)
        others = (self.host_gradient_error, self.host_difference, self.repeat_difference)
        found = [*needed, *(error for error in others if error is not None)]
        return self.failure is None and all(error is not None and error <= self.tolerance for error in found)


@dataclass(frozen=True)
class ExampleResult:
    """How a script ended, with what it printed."""

    name: str
    status: int
    seconds: float
    output: str


def check_kernel(case: Case, folder: Path, seed: int, *, alone: bool = False) -> KernelResult:
    """The case on the GPU, and unless `alone` on the host and twice more; a failure is a result, not the end."""
    allowed = tolerance(case)
    try:
        if calls_malloc(folder):
            return KernelResult(case.name, allowed, failure="its code calls the device's malloc")
        kernel = next(iter(adgen.load(folder, target="cuda")))
        device = run_case(kernel, case, Gpu(), seed)
        if alone:
            return KernelResult(case.name, allowed, device.primal_error, device.gradient_error)
        again = [run_case(kernel, case, Gpu(), seed) for _ in range(2)]
        host = run_case(next(iter(adgen.load(folder, target="openmp"))), case, Host(), seed)
    except Exception as error:  # noqa: BLE001, the other kernels are to be run as well
        return KernelResult(case.name, allowed, failure=f"{type(error).__name__}: {error}")
    return KernelResult(
        case.name,
        allowed,
        device.primal_error,
        device.gradient_error,
        host.gradient_error,
        host_difference=difference(device.shadows, host.shadows),
        repeat_difference=max(difference(each.shadows, device.shadows) for each in again),
    )


def calls_malloc(folder: Path) -> bool:
    """Whether a cubin of the artifact refers to it: such a symbol is resolved when the code is loaded."""
    artifact = read(folder)
    return any(b"malloc\0" in artifact.cubin(arch) for arch in artifact.archs)


def run_example(name: str, folder: Path, plots: Path) -> ExampleResult:
    script, *options = SCRIPTS[name]
    where = ["--artifact", str(folder), "--plot", str(plots / f"{name}.png")]
    command = [sys.executable, str(EXAMPLES / script), *options, *where]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = time.perf_counter()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    said = (ended.stdout + ended.stderr).replace(f"{plots}{os.sep}", "")
    return ExampleResult(name, ended.returncode, time.perf_counter() - start, said)


def about() -> dict[str, str]:
    """Where and how this was run."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"]
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "driver": driver_version(),
        "python": platform.python_version(),
        "cupy": importlib.metadata.version("cupy-cuda13x"),
        "adgen": adgen.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": "python -m cuda_kernels.gpu_check FOLDER",
    }


def driver_version() -> str:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return "unknown"
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="what build_all.py wrote")
    parser.add_argument("--output", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--seed", type=int, default=secrets.randbits(31))
    parser.add_argument("--kernels-only", action="store_true")
    options = parser.parse_args()

    alone, built = options.kernels_only, options.folder / "kernels"
    kernels = [check_kernel(case, built / case.name, options.seed, alone=alone) for case in CASES]
    names = () if alone else tuple(SCRIPTS)
    scripts = [run_example(name, options.folder / "examples" / name, options.output.parent) for name in names]
    listed = [{**asdict(result), "ok": result.ok} for result in kernels]
    written = {**about(), "seed": options.seed, "kernels": listed, "examples": [asdict(result) for result in scripts]}
    options.output.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")

    wrong = [f"{r.name}: {r.failure or r}" for r in kernels if not r.ok]
    wrong += [f"{r.name}: status {r.status}\n{r.output}" for r in scripts if r.status]
    click.echo(f"{len(kernels) + len(scripts) - len(wrong)} of {len(kernels) + len(scripts)} right")
    for text in wrong:
        click.echo(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
