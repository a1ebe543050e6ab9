"""A made-up toolchain and workspace, for unit tests of the stages: nothing is there, a fake process answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from fakes import Argv, FakeProcess, output_of

from enzyme_driver.model import Activity, DataType, Form, Parameter, Signature
from enzyme_driver.settings import Settings
from enzyme_driver.stages.frontend import PrimalIR
from enzyme_driver.stages.plan import Plan
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.toolchain import EnzymeSource, Tool, Toolchain

WHEEL = EnzymeSource("wheel", Path("/enzyme/catalyst"), 22, None, "wheel")
PLUGIN = EnzymeSource("plugin", Path("/own/LLVMEnzyme-22.so"), 22, None, "ADGEN_ENZYME")

OPT = ("/llvm/bin/opt", "-load-pass-plugin=/build/libadgen-passes.so")
REFLECTION = "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"
FLOAT = DataType("float32", "float", 4)
DOUBLE = DataType("float64", "float", 8)
INT = DataType("int32", "int", 4)


def tools(enzyme: EnzymeSource = WHEEL) -> Toolchain:
    def tool(name: str, version: str = "22.1.8") -> Tool:
        return Tool(name, Path(f"/llvm/bin/{name}"), version, "PATH")

    return Toolchain(
        clang=tool("clang"),
        opt=tool("opt"),
        ptxas=Tool("ptxas", Path("/cuda/bin/ptxas"), "13.0.88", "CUDA root"),
        cuda_root=Path("/cuda"),
        libdevice=Path("/cuda/libdevice.bc"),
        libomp=Path("/llvm/lib/libomp.so.5"),
        llvmlite=Path("/python/libllvmlite.so"),
        enzyme=enzyme,
        passes=Path("/build/libadgen-passes.so"),
        worker=Path("/build/worker.so"),
        host_runtime=Path("/build/host_runtime.o"),
        rules=Path("/build/rules.bc"),
        archs=("sm_80", "sm_90"),
    )


def workspace_in(folder: Path, settings: Settings, run: FakeProcess, enzyme: EnzymeSource = WHEEL) -> Workspace:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return Workspace(scratch, tools(enzyme), settings, run)


def parameter(name: str, dtype: DataType = FLOAT, form: Form = "pointer", activity: Activity = "const") -> Parameter:
    return Parameter(name, form, dtype, const=False, activity=activity)


def kernel(symbol: str, *parameters: Parameter, name: str = "") -> Signature:
    """A kernel in line 7 of k.cu, with one duplicated array x unless said otherwise."""
    taken = parameters or (parameter("x", activity="duplicated"),)
    return Signature(name or symbol, "kernel", symbol, taken, file="/home/u/k.cu", line=7)


def plan_of(*symbols: str) -> Plan:
    return Plan(tuple(kernel(symbol) for symbol in symbols))


def primal_in(workspace: Workspace) -> PrimalIR:
    return PrimalIR(workspace.file("k.sm_90.primal.ll"), "cuda", ())


def usage(*symbols: str, counted: bool = True, split: bool = False) -> str:
    """What adgen-print-usage prints for kernels of one array that is read."""
    accesses = {symbol: [{"reads": True, "writes": False}] for symbol in symbols}
    return json.dumps({"usage": accesses, "counted": counted, "split": split})


def refusal(entry: str, reason: str = "cannot differentiate it", line: int = 3) -> str:
    place: Mapping[str, object] = {"file": "/home/u/k.cu", "line": line, "column": 5}
    return "adgen-refusal: " + json.dumps({"entry": entry, "reason": reason, "hint": "do", **place}) + "\n"


def writes(*contents: str) -> Callable[[Argv], object]:
    """Makes the file after `-o`, and the dependency file where one is asked for."""

    def effect(argv: Argv) -> None:
        output_of(argv).write_text(contents[0] if contents else "made")
        if "-MF" in argv:
            Path(argv[argv.index("-MF") + 1]).write_text(f"{output_of(argv)}: {' '.join(contents[1:])}\n")

    return effect
