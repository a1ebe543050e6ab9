"""One process a device: how they are started, how they meet, and what they are told of themselves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

EXAMPLES = Path(__file__).resolve().parents[1]
Kind = Literal["cpu", "cuda"]
Found = dict[str, Any]


def built(*folders: str) -> Path | None:
    """What was compiled before (ADGEN_BUILT, as build.py fills it), where there is no compiler."""
    folder = os.environ.get("ADGEN_BUILT")
    return Path(folder).joinpath(*folders) if folder else None


def program(file: str) -> Path:
    """A program of the examples, or its artifact."""
    return built("examples", Path(file).stem) or EXAMPLES / file


@dataclass(frozen=True)
class Place:
    """This process among all: its number, how many there are, and the device that it works on."""

    rank: int
    size: int
    kind: Kind

    @property
    def device(self) -> Any:
        import torch

        return torch.device(self.kind, self.rank) if self.kind == "cuda" else torch.device("cpu")

    @property
    def target(self) -> Literal["openmp", "cuda"]:
        return "cuda" if self.kind == "cuda" else "openmp"

    def part(self, count: int) -> slice:
        """What this process has of so many rows."""
        return slice(self.rank * count // self.size, (self.rank + 1) * count // self.size)

    def summed(self, array: Any) -> Any:
        """The sum of all processes' arrays of NumPy, CuPy or PyTorch, in place."""
        if self.size > 1:
            from torch import distributed

            distributed.all_reduce(self.shared(array))
        return array

    def gathered(self, array: Any) -> list[Any]:
        """The arrays of all processes as tensors, one after the other."""
        import torch
        from torch import distributed

        own = self.shared(array)
        found = [torch.empty_like(own) for _ in range(self.size)]
        if self.size > 1:
            distributed.all_gather(found, own)
            return found
        return [own]

    def shared(self, array: Any) -> Any:
        """A tensor over the same memory."""
        import torch

        return array if isinstance(array, torch.Tensor) else torch.as_tensor(array, device=self.device)

    def wait(self) -> None:
        import torch
        from torch import distributed

        if self.kind == "cuda":
            torch.cuda.synchronize(self.device)
        if self.size > 1:
            distributed.barrier()


def run(work: Callable[..., Found], size: int, kind: Kind, *more: Any) -> list[Found]:
    """What `work(place, *more)` returns in each of `size` processes: arrays by name. It is a module's own function."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_process, (size, kind, folder, work, more), nprocs=size)
        return [dict(np.load(f"{folder}/{rank}.npz")) for rank in range(size)]


def _process(rank: int, size: int, kind: Kind, folder: str, work: Callable[..., Found], more: Any) -> None:
    import torch
    from torch import distributed

    place = Place(rank, size, kind)
    if kind == "cuda":
        torch.cuda.set_device(place.device)
        on_gpu(rank)
    backend = "nccl" if kind == "cuda" else "gloo"
    distributed.init_process_group(
        backend,
        init_method=f"file://{folder}/meeting",
        rank=rank,
        world_size=size,
        device_id=place.device if kind == "cuda" else None,
    )
    np.savez(f"{folder}/{rank}.npz", **work(place, *more))
    distributed.destroy_process_group()


def on_gpu(number: int) -> None:
    """Let CuPy make its arrays there, where it is installed."""
    import importlib.util

    if importlib.util.find_spec("cupy"):
        import cupy

        cupy.cuda.Device(number).use()


def alone(kind: Kind) -> Place:
    """The only process, on the first device."""
    return Place(0, 1, kind)


def differs(found: Any, wanted: Any, largest: float, what: str) -> bool:
    """Print by how much, relative to the largest number; whether it is too much."""
    error = float(np.abs(np.asarray(found) - wanted).max() / np.abs(wanted).max())
    print(f"{what}: differs from one device by {error:.1e}", flush=True)
    return not error <= largest


def over(size: int, kind: Kind) -> str:
    return f"{size} processes over {'NCCL' if kind == 'cuda' else 'gloo'}"
