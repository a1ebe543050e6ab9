"""An operator as a library of PyTorch's stable ABI, which C++ and AOTInductor load without Python.

It has programs for the shapes, dtypes and values of the examples that it was exported with; the compiled code that they
launch lies beside it.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from enzyme_driver.errors import ArgumentError, ToolchainError, UsageError
from enzyme_driver.frameworks.native import FLAGS, ROOM, Compiled
from enzyme_driver.frameworks.torch_native import NUMBERS, torch_headers
from enzyme_driver.frameworks.torch_run import device_of, place_of, plain, specs_of, torch_dtype
from enzyme_driver.targets.openmp import LIBOMP

if TYPE_CHECKING:
    from enzyme_driver.frameworks.description import Operator
    from enzyme_driver.frameworks.torch_calls import Calls

_KINDS = {"array": "t", "int": "i", "bool": "b", "float": "f"}


@dataclass(frozen=True)
class _Variant:
    key: tuple[int, ...]
    compiled: Compiled
    seeds: int = 0


@dataclass(frozen=True)
class _Op:
    name: str
    schema: str
    kinds: str
    variants: tuple[_Variant, ...]


def export(operator: Operator, calls: Calls, schema: str, folder: Path, examples: Sequence[Any]) -> Path:
    """The library in `folder`, with `adgen::NAME` and `adgen::NAME_gradient`."""
    for each in operator.inputs:
        if each.kind not in _KINDS or each.optional:
            raise UsageError(
                f"{operator.name} cannot be exported: {each.name!r} is " + ("optional" if each.optional else each.kind),
                hint="export an operator whose arguments are tensors and numbers",
            )
    if not examples:
        raise UsageError(f"{operator.name} is exported without an example", hint="give a tuple of its arguments")
    places, forward, backward = set(), list[_Variant](), list[_Variant]()
    for example in examples:
        tensors, statics = operator.bind(*_split(example))
        given = [plain(tensor) for tensor in tensors]
        places.add(place_of(device_of(operator, given)))
        forward.append(_of_primal(operator, given, statics))
        backward += _of_product(operator, calls, given, statics)
    if len(places) != 1:
        raise ArgumentError(f"{operator.name}: examples are on several kinds of devices", hint="export one for each")
    kinds = "".join(_KINDS[each.kind] for each in operator.inputs)
    ops = [_Op(operator.name, schema, kinds, tuple(forward))]
    if backward:
        ops.append(_gradient(operator, backward, kinds))
    return _written(operator.name, ops, folder, on_gpu=places.pop().target == "cuda")


def _of_primal(operator: Operator, given: Sequence[torch.Tensor], statics: Sequence[Any]) -> _Variant:
    compiled = operator.primal(specs_of(given), statics, place_of(given[0].device))
    return _Variant(_key(operator, given, statics, ()), compiled)


def _of_product(
    operator: Operator, calls: Calls, given: Sequence[torch.Tensor], statics: Sequence[Any]
) -> Iterator[_Variant]:
    """By all inputs with cotangents of all outputs; nothing where there is no derivative."""
    device = given[0].device
    results = operator.primal(specs_of(given), statics, place_of(device)).results
    seeds = [
        torch.zeros(spec.shape, dtype=torch_dtype(spec.dtype), device=device) if spec.differentiable else None
        for spec in results
    ]
    there, wrt = tuple(seed is not None for seed in seeds), calls.wrt(given, [True] * len(given))
    if any(wrt) and any(there):
        calls.vjp(given, statics, seeds, wrt)  # which verifies itself
        kept = [seed for seed in seeds if seed is not None]
        compiled = operator.reverse(specs_of(given), statics, place_of(device), wrt, there)
        yield _Variant(_key(operator, given, statics, kept), compiled, len(kept))


def _split(example: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments in order, and those by name, which a dict at the end has."""
    given = tuple(example)
    return (given[:-1], given[-1]) if given and isinstance(given[-1], dict) else (given, {})


def _gradient(operator: Operator, variants: Sequence[_Variant], kinds: str) -> _Op:
    """All inputs in order, then a cotangent an output; a tensor an input that has a derivative."""
    words = {"array": "Tensor", "int": "SymInt", "bool": "bool", "float": "float"}
    taken = [f"{words[each.kind]} {each.name}" for each in operator.inputs]
    shapes = {(variant.seeds, len(variant.compiled.results)) for variant in variants}
    if len(shapes) != 1:
        raise ArgumentError(f"{operator.name}: examples differ in what has a derivative", hint="export two")
    ((seeds, count),) = shapes
    taken += [f"Tensor cotangent{number}" for number in range(seeds)]
    returned = "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    name = f"{operator.name}_gradient"
    return _Op(name, f"{name}({', '.join(taken)}) -> {returned}", kinds + "t" * seeds, tuple(variants))


def _key(operator: Operator, tensors: Iterable[Any], statics: Iterable[Any], seeds: Iterable[Any]) -> tuple[int, ...]:
    """As native/stable.cpp makes it of a call's arguments."""
    arrays, values, found = iter(tensors), iter(statics), list[int]()
    for each in operator.inputs:
        if each.kind == "array":
            found += _of_tensor(next(arrays))
        elif each.kind == "float":
            found += struct.unpack("<q", struct.pack("<d", next(values)))
        else:
            found.append(int(next(values)))
    for seed in seeds:
        found += _of_tensor(seed)
    return tuple(found)


def _of_tensor(tensor: torch.Tensor) -> list[int]:
    return [NUMBERS[str(tensor.dtype).removeprefix("torch.")], tensor.dim(), *tensor.shape]


def _written(name: str, ops: Sequence[_Op], folder: Path, *, on_gpu: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    source, library = folder / f"{name}.cpp", folder / f"lib{name}.so"
    source.write_text("\n".join(_source(ops, folder, on_gpu=on_gpu)), encoding="utf-8")
    _compile(source, library)
    return library


def _source(ops: Sequence[_Op], folder: Path, *, on_gpu: bool) -> Iterator[str]:
    yield '#include "stable.h"\n\nnamespace {\n'
    for op in ops:
        yield f"const adgen::Exported &of_{op.name}() {{\n  static const adgen::Exported made{{"
        yield f'      "{op.name}", "{op.kinds}", {{'
        for variant in op.variants:
            yield from _of_variant(variant, folder)
        yield "      }};\n  return made;\n}\n"
        yield f"void run_{op.name}(StableIValue *stack, uint64_t count, uint64_t) {{"
        yield f"  adgen::run_exported(of_{op.name}(), stack, count);\n}}\n"
    yield "} // namespace\n\nSTABLE_TORCH_LIBRARY_FRAGMENT(adgen, m) {"
    yield from (f'  m.def("{op.schema}");' for op in ops)
    yield f"}}\n\nSTABLE_TORCH_LIBRARY_IMPL(adgen, {'CUDA' if on_gpu else 'CPU'}, m) {{"
    yield from (f'  m.impl("{op.name}", &run_{op.name});' for op in ops)
    yield "}\n"


def _of_variant(variant: _Variant, folder: Path) -> Iterator[str]:
    compiled = variant.compiled
    yield f"          {{{_list(variant.key)},\n           {_list(compiled.words)},"
    yield f"           {_text(compiled.text, folder)},\n           {{"
    yield ", ".join(f"{{{NUMBERS[spec.dtype]}, {_list(spec.shape)}}}" for spec in compiled.results) + "}},"


def _list(numbers: Iterable[int]) -> str:
    """Words of 64 bits; the least of all has no literal of its own."""
    return "{" + ", ".join(f"int64_t({number % (1 << 64)}ULL)" for number in numbers) + "}"


def _text(text: str, folder: Path) -> str:
    """The names of the program's text, with the files that it launches copied beside the library."""
    lines = []
    for line in text.split("\n"):
        file = Path(line)
        if file.is_absolute() and file.is_file():
            room = folder / file.parent.name
            room.mkdir(exist_ok=True)
            for needed in (file, *file.parent.glob(LIBOMP)):
                shutil.copy2(needed, room / needed.name)
            lines.append(f"@/{room.name}/{file.name}")
        else:
            lines.append(line)
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def _compile(source: Path, library: Path) -> None:
    from enzyme_driver import command, resources, toolchain
    from enzyme_driver.settings import Settings
    from enzyme_driver.toolchain import packages

    clang = toolchain.ensure(Settings.from_environment()).clang
    own = resources.PACKAGE / ROOM
    files = [own / f"{name}.cpp" for name in ("program", "host", "gpu", "stable")]
    abi = torch_headers(stable=True)
    headers: list[str | Path] = ["-isystem", abi.folder, "-I", own]
    flags = [*FLAGS, *packages.compile_flags(clang), *packages.link_flags(clang), *abi.flags]
    argv: list[str | Path] = [clang.prefix / "bin" / "clang++", *flags, *headers, source, *files, "-o", library]
    done = command.run(argv, timeout=600.0)
    if not done.ok:
        first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr[-500:])
        raise ToolchainError(f"{library.name} could not be compiled: {first}", hint="it needs PyTorch 2.10 or later")
