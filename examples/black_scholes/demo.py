"""Prices an option chain and gets all its Greeks from one gradient call; checks them against the closed forms.

black_scholes.cu is an ordinary CUDA program. `adgen compile` makes its gradient for the host (OpenMP) and for the GPU;
the host's runs here, the GPU's where there is one. Leaves with status 1 where a Greek is off by more than the
tolerance.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from closed_form import GREEKS, Chain, Floats, prices_and_greeks, scales
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import enzyme_driver as adgen

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "black_scholes.cu"
BUILD = HERE.parent / "build"
ARCH = "sm_90"
BLOCK = 256
TOLERANCE = 2e-5
"""Largest error allowed, relative to what the Greek of that contract can reach; the kernel computes in float32."""

console = Console(width=None if sys.stdout.isatty() else 100)
Kernel = Any  # what adgen.load gives
Array = Any  # NumPy's, or that of a library for GPUs


@dataclass(frozen=True)
class Timing:
    """Medians in milliseconds over interleaved warm runs."""

    contracts: int
    primal: float
    gradient: float


@dataclass(frozen=True)
class Device:
    """Moves arrays to a GPU and back by the library of that name."""

    library: str
    to_device: Callable[[NDArray[Any]], Array]
    to_host: Callable[[Array], NDArray[Any]]


HOST = Device("NumPy", np.ascontiguousarray, np.asarray)


def compile_chain(folder: Path) -> float:
    """Runs the command a user would type; its output goes to the terminal. Returns the seconds it took."""
    arguments = ["compile", os.path.relpath(SOURCE), "-k", "price", "-t", "openmp", "-t", "cuda", "--arch", ARCH]
    arguments += ["-o", os.path.relpath(folder)]
    console.print("[bold]$ adgen " + " ".join(arguments))
    start = time.perf_counter()
    finished = subprocess.run([sys.executable, "-m", "enzyme_driver", *arguments], check=False)  # noqa: S603
    if finished.returncode:
        sys.exit(finished.returncode)
    return time.perf_counter() - start


def read_chain(path: Path) -> Chain:
    table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 7))
    is_call, *columns = table.T
    chain: Chain = {name: column.astype(np.float32) for name, column in zip(GREEKS, columns, strict=True)}
    return {**chain, "is_call": is_call.astype(np.int32)}


def arguments_of(chain: Chain, device: Device) -> tuple[list[Any], int]:
    """The arguments of the kernel in order, with a fresh array for the prices, and the number of blocks."""
    n = len(chain["spot"])
    arrays = [*(chain[name] for name in GREEKS), chain["is_call"], np.zeros(n, np.float32)]
    return [*(device.to_device(array) for array in arrays), n], -(-n // BLOCK)


def price_with_greeks(kernel: Kernel, chain: Chain, device: Device) -> dict[str, Floats]:
    """Price and every Greek, by name: one primal and one gradient call."""
    args, grid = arguments_of(chain, device)
    kernel[grid, BLOCK](*args)
    found = {"price": device.to_host(args[6]).astype(np.float64)}
    ones = device.to_device(np.ones(len(chain["spot"]), np.float32))
    gradient = kernel.vjp[grid, BLOCK](*args, cotangents={"price": ones}, wrt=tuple(GREEKS))
    for parameter, greek in GREEKS.items():
        sign = -1.0 if greek == "theta" else 1.0
        found[greek] = sign * device.to_host(gradient[parameter]).astype(np.float64)
    return found


def measure(kernel: Kernel, chain: Chain, contracts: int, runs: int = 11) -> Timing:
    """Times primal and gradient on the chain repeated to `contracts`, one after the other in the same process."""
    longer = {name: np.resize(column, contracts) for name, column in chain.items()}
    args, grid = arguments_of(longer, HOST)
    shadows = {name: np.zeros(contracts, np.float32) for name in (*GREEKS, "price")}
    primal, gradient = [], []
    for _ in range(runs + 2):
        shadows["price"][:] = 1.0
        start = time.perf_counter()
        kernel[grid, BLOCK](*args)
        middle = time.perf_counter()
        kernel.gradient[grid, BLOCK](*args, shadows=shadows)
        end = time.perf_counter()
        primal.append(middle - start)
        gradient.append(end - middle)
    return Timing(contracts, 1e3 * median(primal[2:]), 1e3 * median(gradient[2:]))


def largest_errors(found: dict[str, Floats], exact: dict[str, Floats], chain: Chain) -> dict[str, float]:
    """Largest error of each quantity, relative to its scale; infinite where something is not a number."""
    scale = scales(chain)
    errors = {name: np.abs(found[name] - exact[name]) / scale[name] for name in exact}
    return {name: float(np.max(np.where(np.isfinite(error), error, np.inf))) for name, error in errors.items()}


def error_table(errors: dict[str, float], exact: dict[str, Floats], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("", "is", "range over the chain", "largest relative error"):
        table.add_column(heading, justify="right" if heading.startswith(("range", "largest")) else "left")
    parameter = {greek: name for name, greek in GREEKS.items()}
    for name, error in errors.items():
        derivative = f"d price / d {parameter[name]}" if name in parameter else "primal"
        derivative = "- " + derivative if name == "theta" else derivative
        values = exact[name]
        ok = "green" if error <= TOLERANCE else "bold red"
        table.add_row(name, derivative, f"{values.min():.4g} … {values.max():.4g}", f"[{ok}]{error:.1e}")
    return table


def timing_table(timing: Timing) -> Table:
    threads = os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0))
    table = Table(title=f"{timing.contracts:,} contracts, OpenMP, {threads} threads, median", title_justify="left")
    for heading in ("primal", "gradient (all five Greeks)", "gradient / primal"):
        table.add_column(heading, justify="right")
    table.add_row(f"{timing.primal:.1f} ms", f"{timing.gradient:.1f} ms", f"{timing.gradient / timing.primal:.2f}")
    return table


def find_device() -> Device | None:
    """CuPy or PyTorch with a GPU to use, or None."""
    with contextlib.suppress(Exception):  # not installed, or without a driver: the next library may do
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            return Device("CuPy", cupy.asarray, cupy.asnumpy)
    with contextlib.suppress(ImportError):
        import torch

        if torch.cuda.is_available():
            return Device("PyTorch", lambda x: torch.as_tensor(x, device="cuda"), lambda x: x.cpu().numpy())
    return None


def show_gpu(folder: Path, chain: Chain, exact: dict[str, Floats], host: dict[str, Floats]) -> bool:
    """Runs the cubin where a GPU is; says so in a line where none is. False where a Greek is wrong."""
    cubins = ", ".join(sorted(path.name for path in folder.glob("*.cubin")))
    device = find_device()
    if device is None:
        console.print(f"CUDA target: {cubins} compiled; no GPU with CuPy or PyTorch here, so it was not run.")
        return True
    found = price_with_greeks(adgen.load(folder, target="cuda").price, chain, device)
    errors = largest_errors(found, exact, chain)
    console.print(error_table(errors, exact, f"The same on the GPU ({cubins}, arrays by {device.library})"))
    apart = max(largest_errors(found, host, chain).values())
    console.print(f"GPU and OpenMP differ by at most {apart:.1e}.")
    return max(errors.values()) <= TOLERANCE


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--plot", type=Path, default=HERE / "greeks.png", help="where the plot is saved")
    parser.add_argument("--artifact", type=Path, help="load this one instead of compiling")
    parser.add_argument("--contracts", type=int, default=1_000_000, help="how many contracts are timed")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    folder = options.artifact or BUILD / "black_scholes.adgen"
    if not options.artifact:
        console.print(f"compiled for both targets in {compile_chain(folder):.2f} s\n")

    chain = read_chain(HERE / "options.csv")
    kernel = adgen.load(folder, target="openmp").price
    exact = prices_and_greeks(chain)
    found = price_with_greeks(kernel, chain, HOST)
    errors = largest_errors(found, exact, chain)
    title = f"{len(chain['spot']):,} contracts on the OpenMP target, against closed forms"
    console.print(error_table(errors, exact, title))
    console.print(timing_table(measure(kernel, chain, options.contracts)))
    right_on_gpu = show_gpu(folder, chain, exact, found)

    if importlib.util.find_spec("matplotlib"):
        import plot  # takes a while to import, and nothing above needs it

        plot.save(options.plot, chain, found, exact)
        console.print(f"plot: {os.path.relpath(options.plot)}")
    else:
        console.print("no plot: matplotlib is not installed")
    if max(errors.values()) > TOLERANCE or not right_on_gpu:
        console.print(f"[bold red]a quantity is off by more than {TOLERANCE:.0e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
