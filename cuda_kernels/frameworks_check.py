"""Runs kernels of the collection, and those of the examples, as operators of PyTorch and JAX, against references.

    python -m cuda_kernels.frameworks_check --build FOLDER  # where there is a compiler
    python -m cuda_kernels.frameworks_check --device cuda --artifacts FOLDER/kernels --output matrix.json

Prints a table of kernel by check. Without `--artifacts` the kernels are compiled. A derivative is checked along one
random direction against finite differences of the reference in float64 (see derivative.py).
"""

from __future__ import annotations

import argparse
import datetime as dt
import inspect
import itertools
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from cuda_kernels.build_all import case_arguments
from cuda_kernels.case import Args, Case, active_names
from cuda_kernels.cases import examples
from cuda_kernels.check import tolerance
from cuda_kernels.derivative import dot, leaves, pushed_forward, random_like, reference_state
from cuda_kernels.suite import by_name
from enzyme_driver import cli
from enzyme_driver.errors import RefusedError
from enzyme_driver.frameworks import Array, Launch, Operator
from enzyme_driver.frameworks.code import HOST, Code, Options
from enzyme_driver.runtime.call.slots import written

CHOSEN = (
    "elementwise-elementwise",
    "saxpy-saxpy-alpha-active",
    "in_place-squash",
    "grid_stride-adam",
    "activations-activation",
    "math_mix_double-math_mix_double",
    "axpy_template-axpy<double>-a-active",
    "functor_template-transform<Softplus>",
    "namespaces-physics::lennard_jones-depth-active",
    "recurrence-logistic",
    "nested_loops-conv_power",
    "csr_product-csr_product<int, double>",
    "gather-embed",
    "histogram-deposit",
    "gravity-accelerations",
    "struct_by_value-project",
    "warp_scan-warp_scan",
    "matmul_tiled-matmul",
    "nbody_tiles-potential",
    "scan-scan",
)
"""In place and not, active numbers, structs, integers, gathers and scatters, loops, shared memory, warps."""

EXAMPLES = tuple(case.name for case in examples.CASES)

CASES = {case.name: case for case in (*by_name().values(), *examples.CASES)}

MODES = ("forward", "second")

SAMPLE = (*CHOSEN[1:3], CHOSEN[9], CHOSEN[15], EXAMPLES[0], EXAMPLES[-1])
"""What the tests run."""


@dataclass(frozen=True)
class Subject:
    """A case as an operator: which arguments are its inputs, and which of these arrays it returns changed."""

    case: Case
    operator: Operator
    args: Args
    arrays: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def inputs(self) -> dict[str, Any]:
        names = (name for name in self.args if name in self.arrays)
        return {name: np.array(self.args[name]) for name in names}

    @property
    def active(self) -> tuple[str, ...]:
        return tuple(name for name in active_names(self.case, self.args) if name in self.arrays)

    @property
    def seeded(self) -> tuple[str, ...]:
        """The outputs that have a cotangent."""
        return tuple(name for name in self.outputs if name in active_names(self.case, self.args))


def subject(case: Case, artifacts: Path | None = None) -> Subject:
    """With the case's arguments; from an artifact in the folder where that is given.

    The last argument of a C++ function's case is what it returns.
    """
    args = case.make(np.random.default_rng(1))
    path = case.path if artifacts is None else artifacts / case.name
    code = Code(path, case.kernel, Options(activity=dict(case.activity), modes=MODES))
    signature = code.unit("", HOST).signature
    returned = list(args)[-1:] if signature.returns else []
    changed = tuple(returned or (p.name for p in signature if written(p)))
    taken = {name: value for name, value in args.items() if name not in returned}
    active = case.activity
    arrays = tuple(name for name, value in taken.items() if isinstance(value, np.ndarray) or active.get(name))

    def describe(launch: Launch, *given: Array) -> Any:
        by_name = dict(zip(arrays, given, strict=True))
        if returned:
            return launch(args=[by_name.get(name, value) for name, value in taken.items()])
        by_name |= {name: launch.copy(by_name[name]) for name in changed}
        values = [by_name.get(name, value) for name, value in args.items()]
        outputs = [by_name[name] for name in changed]
        return launch(grid=case.grid, block=case.block, shared_bytes=case.shared_bytes, args=values, outputs=outputs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("launch", *(f"{name}_" for name in arrays))]
    describe.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    name = "case_" + "".join(letter if letter.isalnum() else "_" for letter in case.name)
    return Subject(case, Operator(describe, code, name, len(changed), None), args, arrays, changed)


@dataclass(frozen=True)
class Expected:
    """Cotangents of the outputs, a direction of the inputs, and the outputs' tangents along it."""

    seeds: dict[str, Any]
    direction: dict[str, Any]
    product: float
    size: float

    def error(self, gradients: dict[str, Any]) -> float:
        """How far the gradients are from finite differences, relative to the terms of the sums."""
        found = {
            name: np.asarray(gradients[name], np.float64).reshape(self.direction[name].shape) for name in gradients
        }
        backward, size = dot(found, {name: self.direction[name] for name in gradients})
        error = abs(self.product - backward) / max(self.size, size)
        return error if np.isfinite(error) else float("inf")


def expected(found: Subject) -> Expected:
    rng = np.random.default_rng(2)
    arrays = {name: np.asarray(found.args[name]) for name in active_names(found.case, found.args)}
    direction = random_like(leaves(arrays, arrays), rng)
    moved = pushed_forward(found.case, found.args, direction)
    seeds = {name: rng.standard_normal(arrays[name].shape) for name in found.seeded}
    product, size = dot(seeds, {name: moved[name] for name in seeds})
    return Expected(seeds, direction, product, size)


Check = Callable[[Subject, str], float | None]
"""The error that it found, None where there is nothing to compare; raises where something fails."""


def torch_gradient(found: Subject, device: str, call: Callable[..., Any] | None = None) -> float:
    import torch

    wanted = expected(found)
    given = {name: torch.tensor(value, device=device) for name, value in found.inputs.items()}
    for name in found.active:
        given[name].requires_grad_()
    made = (call or found.operator.torch)(*given.values())
    outputs = dict(zip(found.outputs, made if isinstance(made, tuple) else (made,), strict=True))
    seeds = {name: torch.tensor(seed, device=device, dtype=outputs[name].dtype) for name, seed in wanted.seeds.items()}
    torch.autograd.backward([outputs[name] for name in seeds], list(seeds.values()))
    return wanted.error({name: _host(given[name].grad) for name in found.active})


def _host(tensor: Any) -> Any:
    return 0.0 if tensor is None else tensor.detach().cpu().numpy()


def torch_known(found: Subject, device: str) -> float:
    """Once more: what is known runs without Python, forward and backward."""
    return max(torch_gradient(found, device), torch_gradient(found, device))


def torch_compiled(found: Subject, device: str) -> float:
    import torch

    torch._dynamo.reset()  # noqa: SLF001  (it counts what was compiled before)
    return torch_gradient(found, device, torch.compile(found.operator.torch.op, fullgraph=True, backend="aot_eager"))


def torch_forward(found: Subject, device: str) -> float:
    """The outputs' tangents along the direction."""
    import torch

    wanted, (given, function) = expected(found), _of_active(found, device)
    along = {name: torch.tensor(wanted.direction[name], device=device, dtype=given[name].dtype) for name in given}
    _, tangents = torch.func.jvp(function, tuple(given.values()), tuple(along.values()))
    host = {name: _host(each).astype(np.float64) for name, each in zip(wanted.seeds, tangents, strict=True)}
    product, size = dot(wanted.seeds, host)
    return abs(wanted.product - product) / max(wanted.size, size)


def torch_second(found: Subject, device: str) -> float:
    """The derivative of the gradient along the direction, weighed by another one, against second differences."""
    import torch

    wanted, (given, function) = expected(found), _of_active(found, device)
    names = list(given)
    other = another(found)
    along = [torch.tensor(wanted.direction[name], device=device, dtype=given[name].dtype) for name in names]
    seeds = [torch.tensor(seed, device=device) for seed in wanted.seeds.values()]
    values = [each.requires_grad_() for each in given.values()]
    made = function(*values)
    dtypes = [seed.to(each.dtype) for seed, each in zip(seeds, made, strict=True)]
    first = torch.autograd.grad(made, values, dtypes, create_graph=True)
    second = torch.autograd.grad(first, values, along)
    product, size = dot({name: _host(each) for name, each in zip(names, second, strict=True)}, other)
    size = max(size, dot({name: _host(each) for name, each in zip(names, first, strict=True)}, other)[1])
    # Short steps where there is a kink nearby.
    steps = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
    return min(abs(product - curvature(found, wanted, other, step)) / size for step in steps)


def another(found: Subject) -> dict[str, Any]:
    """A direction of the active inputs that is not the one of `expected`."""
    rng = np.random.default_rng(3)
    return {name: rng.standard_normal(np.shape(found.args[name])) for name in found.active}


def curvature(found: Subject, wanted: Expected, other: dict[str, Any], step: float) -> float:
    """The second derivative of the reference's outputs, with their cotangents, along both directions."""
    stencil, total = ((1, 8), (-1, -8), (2, -1), (-2, 1)), 0.0
    for (one, first), (two, second) in itertools.product(stencil, stencil):
        way = {name: one * along + two * other.get(name, 0.0) for name, along in wanted.direction.items()}
        state = reference_state(found.case, found.args, way, step)
        total += first * second * dot(wanted.seeds, {name: state[name] for name in wanted.seeds})[0]
    return total / (12 * step) ** 2


def _of_active(found: Subject, device: str) -> tuple[dict[str, Any], Callable[..., Any]]:
    """The active inputs, and what makes of them the outputs that have a cotangent."""
    import torch

    given = {name: torch.tensor(value, device=device) for name, value in found.inputs.items()}

    def function(*active: Any) -> Any:
        values = given | dict(zip(found.active, active, strict=True))
        made = dict(zip(found.outputs, _several(found.operator.torch(*values.values())), strict=True))
        return tuple(made[name] for name in found.seeded)

    return {name: given[name] for name in found.active}, function


def torch_opcheck(found: Subject, device: str) -> None:
    import torch

    given = [torch.tensor(value, device=device) for value in found.inputs.values()]
    for name, tensor in zip(found.inputs, given, strict=True):
        tensor.requires_grad_(name in found.active)
    torch.library.opcheck(found.operator.torch.op, tuple(given))


def torch_vmap(found: Subject, device: str) -> float:
    """Two examples at once against one after the other."""
    import torch

    given = [torch.tensor(value, device=device) for value in found.inputs.values()]
    twice = [torch.stack([each, each]) for each in given]
    mapped, single = torch.func.vmap(found.operator.torch)(*twice), found.operator.torch(*given)
    pairs = zip(_several(mapped), _several(single), strict=True)
    return max(float((both - one).abs().max()) / max(float(one.abs().max()), 1e-30) for both, one in pairs)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def jax_gradient(found: Subject, device: str, wrap: Callable[..., Any] | None = None) -> float:
    import jax

    del device
    wanted = expected(found)
    given = {name: jax.numpy.asarray(value) for name, value in found.inputs.items()}
    chosen = [position for position, name in enumerate(given) if name in found.active]

    def weighted(*arrays: Any) -> Any:
        made = dict(zip(found.outputs, _several(found.operator.jax(*arrays)), strict=True))
        return sum((made[name] * seed).sum() for name, seed in wanted.seeds.items())

    gradient = jax.grad(weighted, chosen)
    values = (wrap(gradient) if wrap else gradient)(*given.values())
    return wanted.error({name: np.asarray(value) for name, value in zip(_names(given, chosen), values, strict=True)})


def _names(given: dict[str, Any], chosen: list[int]) -> list[str]:
    return [list(given)[position] for position in chosen]


def jax_forward(found: Subject, device: str) -> float:
    import jax

    del device
    wanted = expected(found)
    given = {name: jax.numpy.asarray(value) for name, value in found.inputs.items()}
    along = [jax.numpy.asarray(wanted.direction[name], given[name].dtype) for name in found.active]

    def function(*active: Any) -> Any:
        values = given | dict(zip(found.active, active, strict=True))
        made = dict(zip(found.outputs, _several(found.operator.jax.forward(*values.values())), strict=True))
        return [made[name] for name in wanted.seeds]

    _, tangents = jax.jvp(function, [given[name] for name in found.active], along)
    host = {name: np.asarray(each, np.float64) for name, each in zip(wanted.seeds, tangents, strict=True)}
    product, size = dot(wanted.seeds, host)
    return abs(wanted.product - product) / max(wanted.size, size)


def jax_jit(found: Subject, device: str) -> float:
    import jax

    return jax_gradient(found, device, jax.jit)


def jax_vmap(found: Subject, device: str) -> float:
    import jax

    del device
    given = [jax.numpy.asarray(value) for value in found.inputs.values()]
    twice = [jax.numpy.stack([each, each]) for each in given]
    mapped, single = jax.jit(jax.vmap(found.operator.jax))(*twice), found.operator.jax(*given)
    pairs = zip(_several(mapped), _several(single), strict=True)
    return max(float(abs(both - one).max()) / max(float(abs(one).max()), 1e-30) for both, one in pairs)


CHECKS: dict[str, dict[str, Check]] = {
    "torch": {
        "gradient": torch_gradient,
        "known": torch_known,
        "opcheck": torch_opcheck,
        "compile": torch_compiled,
        "vmap": torch_vmap,
        "forward": torch_forward,
        "second": torch_second,
    },
    "jax": {"gradient": jax_gradient, "jit": jax_jit, "vmap": jax_vmap, "forward": jax_forward},
}


def outcome(found: Subject, check: Check, device: str) -> str:
    """ "ok", "refused" for a second derivative that there is none of, or what was wrong."""
    try:
        error = check(found, device)
    except RefusedError as problem:
        return "refused" if check is torch_second else str(problem)
    except Exception as problem:  # noqa: BLE001  (a table shows them all)
        return f"{type(problem).__name__}: {problem}"
    limit = tolerance(found.case)
    return "ok" if error is None or error <= limit else f"error {error:.2g} > {limit:.2g}"


def _name(device: str) -> str:
    if device == "cpu":
        return platform.machine()
    import torch

    return str(torch.cuda.get_device_name())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=(*CHOSEN, *EXAMPLES))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--artifacts", type=Path)
    parser.add_argument("--build", type=Path, help="compile the kernels for a GPU into this folder, and nothing else")
    parser.add_argument("--framework", action="append", choices=list(CHECKS))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.build:
        modes = [word for mode in MODES for word in ("--mode", mode)]
        on_gpu = [name for name in options.names if CASES[name].path.suffix == ".cu"]
        return max(cli.run([*case_arguments(CASES[name], options.build, "sm_90"), *modes]) for name in on_gpu)
    if "jax" in (options.framework or CHECKS):
        import jax

        jax.config.update("jax_enable_x64", True)
    table: dict[str, dict[str, str]] = {}
    for name in options.names:
        if options.device == "cuda" and CASES[name].path.suffix != ".cu":
            continue
        found = subject(CASES[name], options.artifacts)
        table[name] = {
            f"{framework} {what}": outcome(found, check, options.device)
            for framework in options.framework or CHECKS
            for what, check in CHECKS[framework].items()
        }
        click.echo(f"{name}: {'; '.join(f'{what} {word[:300]}' for what, word in table[name].items())}")
    if options.output:
        said = {"command": "python -m cuda_kernels.frameworks_check", "device": _name(options.device)}
        said["date"] = dt.datetime.now(tz=dt.UTC).date().isoformat()
        options.output.write_text(json.dumps({**said, "matrix": table}, indent=1) + "\n", encoding="utf-8")
    return int(any(word not in {"ok", "refused"} for row in table.values() for word in row.values()))


if __name__ == "__main__":
    sys.exit(main())
