"""Compiles the tensor operators into a folder, for both targets, so that they can be measured where no compiler is.

python -m benchmarks.build_operators FOLDER [--arch sm_90] [--dtype float32] [--precision bfloat16 ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from enzyme_driver import tensor as ad
from enzyme_driver.tensor import launches, operators
from enzyme_driver.tensor.kernels import FORWARD


def wanted(dtype: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Every kernel, with a gradient by all inputs, and of those with two by either; and what rules launch."""
    for operator in operators.ALL:
        for kernel in operators.kernels(operator):
            constants = [(), ("a",), ("b",)] if len(operator.inputs) > 1 else [()]
            for constant in constants:
                yield operator.file, kernel, dtype, constant
    for operator in (operators.MATMUL_TURNED_A, operators.MATMUL_TURNED_B):
        for kernel in operators.kernels(operator):
            yield operator.file, kernel, dtype, ()


def on_tensor_cores(precision: str) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """The products of a precision, of matrices whose rows are multiples of 16 bytes, and of others."""
    dtype = {"tf32": "float32", "bfloat16": "uint16", "float16": "float16"}[precision]
    for turned in ((False, False), (True, False), (False, True)):
        for edge in (16, 1):
            choices = launches.matmul_tensor(4 if precision == "tf32" else 2, turned=turned)
            for launch in choices(True, (edge, edge, edge)):
                yield FORWARD, launch.template, dtype, ()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--precision", action="append", choices=ad.PRECISIONS[1:], default=[])
    options = parser.parse_args()
    products = [each for precision in options.precision for each in on_tensor_cores(precision)]
    count = ad.build(options.folder, dict.fromkeys([*wanted(options.dtype), *products]), arch=options.arch)
    click.echo(f"{count} kernels in {options.folder}", err=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
