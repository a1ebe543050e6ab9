"""A fully connected layer on Tensor Cores beside PyTorch's product, its gradient by a rule, and the compiled one.

    python -m benchmarks.tensor_cores FOLDER --build
    python -m benchmarks.tensor_cores FOLDER --output benchmarks/results/tensor_cores.json

The first compiles the gradients into FOLDER. The second measures on a GPU; it compiles forward kernels with nvcc.
Times are medians in milliseconds. The rule is two products: the cotangent times theta transposed, and x transposed
times the cotangent. The compiled gradient is of smaller tiles, whose registers hold it; its own forward is beside it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.scan_times import Row, times

SOURCES = Path(__file__).resolve().parents[1] / "cuda_kernels" / "primitives"
SIZES = (1024, 2048, 4096)
PRODUCT, LINEAR = 0, 1
STRIP = 4


@dataclass(frozen=True)
class Tile:
    """The template arguments of dense_tensor that say what a block computes."""

    rows: int
    columns: int
    depth: int
    stages: int
    warps: tuple[int, int]

    @property
    def threads(self) -> int:
        return 32 * self.warps[0] * self.warps[1]

    def instance(self, word: str, activation: int, turned: tuple[bool, bool]) -> str:
        """The kernel's name in C++."""
        numbers = (activation, self.rows, self.columns, self.depth, self.stages, *self.warps)
        switches = (str(each).lower() for each in (True, *turned))
        return f"dense_tensor<{', '.join((word, *map(str, numbers), *switches))}>"

    def shared_bytes(self, size: int, turned: tuple[bool, bool]) -> int:
        """As Tile::bytes in tensor_tile.cuh."""
        wide, (of_x, of_theta) = size == 4, turned  # noqa: PLR2004  (bytes of a float)
        left = (self.depth, self.rows) if of_x else (self.rows, self.depth)
        right = (self.columns, self.depth) if of_theta else (self.depth, self.columns)
        left_pitch = left[1] + (4 if wide and not of_x else 8)
        right_pitch = right[1] + (4 if wide and of_theta else 8)
        return (left[0] * left_pitch + right[0] * right_pitch) * self.stages * size

    def blocks(self, edge: int) -> int:
        return -(-edge // self.rows) * -(-edge // self.columns)


@dataclass(frozen=True)
class Precision:
    """The type in C++ and in PyTorch, and the tiles of forward kernels and of the compiled gradient."""

    word: str
    torch: str
    forward: Tile
    compiled: Tile


PRECISIONS = {
    "bfloat16": Precision("__nv_bfloat16", "bfloat16", Tile(128, 256, 64, 3, (2, 4)), Tile(64, 64, 32, 1, (2, 2))),
    "half": Precision("half", "float16", Tile(128, 256, 64, 3, (2, 4)), Tile(64, 64, 32, 1, (2, 2))),
    "tf32": Precision("float", "float32", Tile(128, 256, 32, 3, (2, 4)), Tile(64, 64, 16, 1, (2, 2))),
}


def build(folder: Path) -> None:
    """Compile the gradients."""
    from enzyme_driver import cache, request
    from enzyme_driver.settings import Settings

    for name, precision in PRECISIONS.items():
        instance = precision.compiled.instance(precision.word, LINEAR, (False, False))
        asked = request.new(SOURCES / "dense_tensor.cu", names=[instance], targets=["cuda"], archs=["sm_90"])
        made = cache.build(asked, settings=Settings.from_environment())
        shutil.copytree(made, folder / name, dirs_exist_ok=True)


def forward(precision: Precision, activation: int, turned: tuple[bool, bool]) -> Callable[..., None]:
    """A launch of the layer compiled by nvcc: (left, right, out), matrices of PyTorch of one edge."""
    import cupy

    tile, word = precision.forward, precision.word
    name = tile.instance(word, activation, turned)
    text = (
        f'#include "dense_tensor.cu"\nextern "C" __global__ void __launch_bounds__({tile.threads}) '
        f"layer(const {word} *x, const {word} *theta, {word} *out, int rows, int inputs, int outputs, int strip)\n"
        f"{{ {name.replace('dense_tensor<', 'layer_of_block<')}(x, theta, out, rows, inputs, outputs, strip); }}\n"
    )
    options = ("-std=c++17", f"-I{SOURCES}", "-arch=sm_90")
    kernel = cupy.RawModule(code=text, options=options, backend="nvcc").get_function("layer")
    shared = tile.shared_bytes(4 if word == "float" else 2, turned)
    kernel.max_dynamic_shared_size_bytes = shared

    def run(left: Any, right: Any, out: Any) -> None:  # noqa: ANN401
        edge = out.shape[1]
        numbers = [np.int32(each) for each in (edge, edge, edge, STRIP)]
        pointers = [np.uint64(each.data_ptr()) for each in (left, right, out)]
        kernel((tile.blocks(edge),), (tile.threads,), (*pointers, *numbers), shared_mem=shared)

    return run


def rows_of(name: str, folder: Path) -> list[Row]:
    """Times and errors of one precision at all sizes."""
    import torch

    precision = PRECISIONS[name]
    torch.backends.cuda.matmul.allow_tf32 = True
    dtype = getattr(torch, precision.torch)
    layer = forward(precision, LINEAR, (False, False))
    of_x, of_theta = forward(precision, PRODUCT, (False, True)), forward(precision, PRODUCT, (True, False))
    found = []
    for edge in SIZES:
        x, theta, weight = (
            (torch.randn(rows, edge, device="cuda") / scale).to(dtype)
            for rows, scale in ((edge, 1), (edge + 1, edge**0.5), (edge, 1))
        )
        out, by_x, by_theta = torch.empty_like(x), torch.empty_like(x), torch.empty_like(theta)
        layer(x, theta, out)
        wanted = x.double() @ theta[:edge].double() + theta[edge].double()
        row = {
            "precision": name,
            "size": edge,
            "error": float((out.double() - wanted).abs().max() / wanted.abs().max()),
            "forward_ms": times(lambda: layer(x, theta, out)),  # noqa: B023
            "torch_ms": times(lambda: torch.mm(x, theta[:edge], out=out)),  # noqa: B023
            "rule_ms": times(lambda: (of_x(weight, theta, by_x), of_theta(x, weight, by_theta[:edge]))),  # noqa: B023
        }
        found.append(row | compiled(precision, folder / name, x, theta, weight))
        click.echo(json.dumps(found[-1]))
    return found


def compiled(precision: Precision, folder: Path, x: Any, theta: Any, weight: Any) -> Row:  # noqa: ANN401
    """The compiled gradient and its own forward."""
    import cupy
    import torch

    import enzyme_driver as adgen

    edge, tile = len(x), precision.compiled
    kernel: Any = next(iter(adgen.load(folder, "cuda")))
    words = torch.uint16 if precision.word == "__nv_bfloat16" else x.dtype
    out, by_x, by_theta, consumed = (torch.zeros_like(each) for each in (x, x, theta, x))
    arrays = [cupy.asarray(each.view(words)) for each in (x, theta, out)]
    shadows = {
        name: cupy.asarray(each.view(words)) for name, each in (("x", by_x), ("theta", by_theta), ("out", consumed))
    }
    shared = tile.shared_bytes(x.element_size(), (False, False))
    launch = (tile.blocks(edge), tile.threads, None, shared)
    consumed.copy_(weight)
    kernel.gradient[launch](*arrays, edge, edge, edge, STRIP, shadows=shadows)
    wanted = weight.double() @ theta[:edge].double().T
    error = float((by_x.double() - wanted).abs().max() / wanted.abs().max())
    return {
        "gradient_forward_ms": times(lambda: kernel[launch](*arrays, edge, edge, edge, STRIP)),
        "gradient_ms": times(
            lambda: kernel.gradient[launch](*arrays, edge, edge, edge, STRIP, shadows=shadows), repeats=3, warm=1
        ),
        "gradient_error": error,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", action="store_true", help="compile into the folder")
    parser.add_argument("--output", type=Path, help="the JSON file to write")
    options = parser.parse_args()
    if options.build:
        build(options.folder)
        return 0
    if options.output is None:
        parser.error("--output is missing")
    from benchmarks.measure import device_name  # it needs CuPy

    where = {
        "device": device_name(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "command": "python -m benchmarks.tensor_cores",
    }
    rows = [row | where for name in PRECISIONS for row in rows_of(name, options.folder)]
    options.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
