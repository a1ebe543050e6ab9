"""From gradient IR to a cubin: the processes, their failures, and what is recorded of each kernel."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeProcess, writes_output
from stage_support import OPT, REFLECTION, plan_of, refusal, workspace_in

from enzyme_driver import pipelines
from enzyme_driver.errors import CompilerCrashError, Location, RefusedError, ToolchainError
from enzyme_driver.model import BlockVariant, TargetEntry
from enzyme_driver.settings import Settings
from enzyme_driver.stages.differentiate import GradientIR
from enzyme_driver.stages.prepare import PreparedModule
from enzyme_driver.stages.workspace import Workspace
from enzyme_driver.targets import cuda, spilling
from enzyme_driver.targets.cuda import CudaCode
from enzyme_driver.targets.emission import EMIT
from enzyme_driver.targets.registers import LIMIT

WORDS = {"rules": "/build/rules.bc", "libdevice": "/cuda/libdevice.bc"}
PASSES = pipelines.render(pipelines.CUDA, WORDS, facts={"exact", "gpu", "assembly", "bulk reductions"})


def report(on_heap: str = "", **kernels: tuple[int, bool]) -> str:
    facts: dict[str, dict[str, object]] = {
        name: {
            "static_shared_bytes": size,
            "dynamic_shadow_bytes": 0,
            "dynamic_shared": on,
            "heap": name == on_heap,
            "lent": [],
            "tape_size_from": None,
            "batch": False,
            "unwritten": [],
        }
        for name, (size, on) in kernels.items()
    }
    return json.dumps({"kernels": facts, "tangents": facts, "seconds": facts, "cooperative": []})


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings, fake_process: FakeProcess) -> Workspace:
    fake_process.reply("opt", stdout=report(a=(0, False)), effect=writes_output())
    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text("code"))
    fake_process.reply("ptxas")
    return workspace_in(tmp_path, settings, fake_process)


def finish(
    workspace: Workspace, *symbols: str, refused: dict[str, RefusedError] | None = None, arch: str = "sm_90"
) -> CudaCode:
    path = workspace.file("k.sm_90.gradient.ll")
    gradient = GradientIR(path, PreparedModule(path, {}, {}, counted=True, fewest=True, split=False), refused or {})
    return cuda.finish(gradient, plan_of(*(symbols or ("a",))), arch, workspace, fast_math=False)


def test_the_processes(workspace: Workspace, fake_process: FakeProcess) -> None:
    made = finish(workspace)
    gradient, ir, ptx, cubin = (
        str(workspace.file(f"k.sm_90.{end}")) for end in ("gradient.ll", "sm_90.cuda.ll", "ptx", "cubin")
    )
    ir, ptx, cubin = str(made.ir), str(made.ptx), str(made.cubin)
    assert fake_process.argvs == [
        (
            *OPT,
            "-mcpu=sm_90",
            REFLECTION,
            "-nvvm-reflect-add=ADGEN_GPU=1",
            f"-passes={PASSES}",
            gradient,
            "-S",
            "-o",
            ir,
        ),
        (
            sys.executable,
            "-P",
            str(EMIT),
            ir,
            ptx,
            "sm_90",
            "2",
            "+ptx81",
            "-disable-machine-sink",
            "-lsr-drop-solution",
        ),
        ("/cuda/bin/ptxas", "-arch=sm_90", "-O3", "-v", "--split-compile=0", ptx, "-o", cubin),
    ]


def test_fewer_registers_that_do_not_pay_are_taken_back(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = (
        "ptxas info    : Function properties for a__gradient\n"
        "    0 bytes stack frame, {} bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used {} registers, used 0 barriers\n"
    )
    text = ".visible .entry a__gradient(\n)\n.maxntid 256\n{\n\tret;\n}\n"

    def first(argv: tuple[str, ...]) -> None:
        Path(argv[-1]).write_bytes(b"first")
        spilling = said.format(5000, 128)
        fake_process.reply("ptxas", stderr=spilling, effect=lambda argv: Path(argv[-1]).write_bytes(b"spilling"))

    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    fake_process.reply("ptxas", stderr=said.format(0, 255), effect=first)
    made = finish(workspace)
    assert (made.ptx.read_text(), made.cubin.read_bytes()) == (text, b"first")
    assert [argv[0] for argv in fake_process.argvs].count("/cuda/bin/ptxas") == 2


@pytest.mark.parametrize(
    ("version", "disabled", "asks"), [("13.0.88", (), 1), ("12.9.86", (), 0), ("13.0.88", ("spill-to-shared",), 0)]
)
def test_only_ptxas_is_asked_for_shared_memory_in_place_of_registers(
    version: str, disabled: tuple[str, ...], asks: int, workspace: Workspace, fake_process: FakeProcess
) -> None:
    """The artifact's PTX is for drivers that may not know the pragma."""
    said = (
        "ptxas info    : Function properties for a__gradient\n"
        "    0 bytes stack frame, 2300 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 0 barriers\n"
    )
    text = ".version 8.1\n.visible .entry a__gradient(\n)\n.maxntid 64\n{\n\tret;\n}\n"
    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    fake_process.reply(
        "ptxas", stderr=said, effect=lambda argv: Path(argv[-1]).write_bytes(Path(argv[-3]).read_bytes())
    )
    ptxas = replace(workspace.toolchain.ptxas, version=version)
    settings = replace(workspace.settings, disable=frozenset(disabled))
    made = finish(replace(workspace, toolchain=replace(workspace.toolchain, ptxas=ptxas), settings=settings))
    assert made.ptx.read_text() == text
    assert made.cubin.read_text().count(spilling.ASKS) == asks


def test_what_finds_no_shared_memory_is_assembled_without(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = (
        "ptxas info    : Function properties for a__gradient\n"
        "    0 bytes stack frame, 2300 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 0 barriers\n"
    )
    text = ".version 8.1\n.visible .entry a__gradient(\n)\n.maxntid 64\n{\n\tret;\n}\n"

    def first(argv: tuple[str, ...]) -> None:
        Path(argv[-1]).write_bytes(b"first")
        fake_process.reply("ptxas", returncode=255, stderr="ptxas fatal   : no")

    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    fake_process.reply("ptxas", stderr=said, effect=first)
    made = finish(workspace)
    assert (made.ptx.read_text(), made.cubin.read_bytes()) == (text, b"first")


def test_kernels_with_many_registers_have_variants_for_larger_blocks(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    said = (
        "ptxas info    : Function properties for a__gradient\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 128 registers, used 0 barriers\n"
    )
    text = ".visible .entry a__gradient(\n)\n{\n\tret;\n}\n"
    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    fake_process.reply("ptxas", stderr=said, effect=lambda argv: Path(argv[-1]).write_bytes(b"code"))
    made = finish(workspace)
    assert made.blocks == {
        "a__gradient": (BlockVariant(512, "a__gradient"), BlockVariant(1024, "a__gradient__block1024"))
    }
    assert ".entry a__gradient__block1024(" in made.ptx.read_text()
    without = replace(workspace, settings=replace(workspace.settings, disable=frozenset({"block-variants"})))
    made = finish(without)
    assert (made.blocks, made.ptx.read_text()) == ({}, text)


@pytest.mark.parametrize(("registers", "runs"), [((200, 128), 2), ((255, 255), 2), ((200, 64, 64), 3)])
def test_what_is_foreseen_is_not_assembled_again(
    registers: tuple[int, ...], runs: int, workspace: Workspace, fake_process: FakeProcess
) -> None:
    """Kernels with all registers that there are keep them: a variant tells what they spill with fewer."""
    text = ".visible .entry a__gradient(\n)\n{\n\tret;\n}\n"
    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    used = iter(registers)

    def says_next(argv: tuple[str, ...] = ()) -> None:
        if argv:
            Path(argv[-1]).write_bytes(b"code")
        said = (
            "ptxas info    : Function properties for a__gradient\n"
            "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            f"ptxas info    : Used {next(used, 0)} registers, used 0 barriers\n"
        )
        fake_process.reply("ptxas", stderr=said, effect=says_next)

    says_next()
    made = finish(workspace)
    assert f".maxnreg {LIMIT}\n" in made.ptx.read_text()
    assert [argv[0] for argv in fake_process.argvs].count("/cuda/bin/ptxas") == runs


def test_variants_that_take_ptxas_too_long_are_left_out(workspace: Workspace, fake_process: FakeProcess) -> None:
    said = (
        "ptxas info    : Function properties for a__gradient\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 128 registers, used 0 barriers\n"
    )
    text = ".visible .entry a__gradient(\n)\n{\n\tret;\n}\n"

    def first(argv: tuple[str, ...]) -> None:
        Path(argv[-1]).write_bytes(b"first")
        fake_process.reply("ptxas", error=CompilerCrashError("ptxas did not end"))

    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(text))
    fake_process.reply("ptxas", stderr=said, effect=first)
    made = finish(workspace)
    assert (made.blocks, made.ptx.read_text(), made.cubin.read_bytes()) == ({}, text, b"first")


def test_only_gpus_that_have_them_get_bulk_reductions(workspace: Workspace, fake_process: FakeProcess) -> None:
    finish(workspace, arch="sm_80")
    finish(workspace, arch="sm_90")
    older, newer = (" ".join(argv) for argv in fake_process.argvs if "-mcpu" in " ".join(argv))
    assert "adgen-bulk-reduce-atomics" not in older
    assert "adgen-bulk-reduce-atomics" in newer


def test_a_switch_leaves_out_its_pass(workspace: Workspace, fake_process: FakeProcess) -> None:
    without = replace(workspace.settings, disable=frozenset({"widen-accesses"}))
    finish(replace(workspace, settings=without))
    assert "load-store-vectorizer" in PASSES
    assert "load-store-vectorizer" not in " ".join(fake_process.argvs[0])


def test_the_files_are_named_after_the_source(workspace: Workspace) -> None:
    made = finish(workspace)
    assert (made.ptx.name, made.cubin.name) == ("k.sm_90.ptx", "k.sm_90.cubin")


def test_what_the_runtime_must_know(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", stdout=report("a", a=(512, False), b=(0, True)))
    made = finish(workspace, "a", "b")
    assert made.entries == {
        "a": TargetEntry("a", "a__gradient", static_shared_bytes=512, heap=True),
        "b": TargetEntry("b", "b__gradient", dynamic_shared=True),
    }
    assert made.forward == {
        "a": TargetEntry("a", "a__tangent", static_shared_bytes=512, heap=True),
        "b": TargetEntry("b", "b__tangent", dynamic_shared=True),
    }


def test_a_kernel_without_gradient_keeps_the_reason(workspace: Workspace) -> None:
    refused = {"b": RefusedError("it has a shuffle", hint="none", location=Location("/home/u/k.cu", 9))}
    entry = finish(workspace, "a", "b", refused=refused).entries["b"]
    assert (entry.primal, entry.gradient, entry.primal_refused) == ("b", None, None)
    assert entry.gradient_refused is not None
    assert (entry.gradient_refused.reason, entry.gradient_refused.line) == ("it has a shuffle", 9)


def test_an_arch_that_is_not_known_starts_nothing(workspace: Workspace, fake_process: FakeProcess) -> None:
    path = workspace.file("k.sm_10.gradient.ll")
    with pytest.raises(ToolchainError, match="sm_10"):
        cuda.finish(
            GradientIR(path, PreparedModule(path, {}, {}, counted=True, fewest=True, split=False), {}),
            plan_of("a"),
            "sm_10",
            workspace,
            fast_math=False,
        )
    assert fake_process.calls == []


def test_an_undefined_function_is_refused(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("opt", stdout=report(), stderr=refusal("", "the gradient needs 'f'", 5))
    with pytest.raises(RefusedError, match="the gradient needs 'f'") as caught:
        finish(workspace)
    assert caught.value.location == Location("/home/u/k.cu", 5, 5)


KERNELS = "".join(
    f".visible .entry {name}(\n\t.param .u64 p\n)\n{{\n\tret;\n}}\n"
    for name in ("a", "a__gradient", "a__tangent", "b", "b__gradient", "b__tape")
)
TOO_MUCH = "ptxas info: a\nptxas error   : Entry function '{}' uses too much shared data (0x10000 bytes)\n"


def fails_first(fake_process: FakeProcess, said: str) -> None:
    """ptxas fails once, and then takes what is left."""
    fake_process.reply("opt", stdout=report(a=(0, False), b=(0, False)), effect=writes_output())
    fake_process.reply("emit.py", effect=lambda argv: Path(argv[4]).write_text(KERNELS))
    fake_process.reply("ptxas", returncode=255, stderr=said, effect=lambda _: fake_process.reply("ptxas"))


def kernels_in(ptx: Path) -> list[str]:
    return [line.split()[2].removesuffix("(") for line in ptx.read_text().splitlines() if ".entry" in line]


def test_a_gradient_with_too_much_shared_memory_is_refused_alone(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fails_first(fake_process, TOO_MUCH.format("b__gradient"))
    made = finish(workspace, "a", "b")
    assert kernels_in(made.ptx) == ["a", "a__gradient", "a__tangent", "b"]
    assert made.entries["a"] == TargetEntry("a", "a__gradient")
    assert (made.entries["b"].primal, made.entries["b"].gradient) == ("b", None)
    why = made.entries["b"].gradient_refused
    assert why is not None
    assert "a derivative needs more static shared memory than a block may have" in why.reason
    assert "0x10000" in why.reason
    assert "dynamic" in why.hint
    assert made.forward["b"].gradient == "b__tangent"
    assert isinstance(made.failed.gradient["b"], RefusedError)
    assert made.failed.gradient["b"].log is not None


def test_a_kernel_that_ptxas_does_not_take_goes_with_its_derivatives(
    workspace: Workspace, fake_process: FakeProcess
) -> None:
    fails_first(fake_process, "ptxas k.ptx, line 4; error   : Parsing error near 'x'\n")
    made = finish(workspace, "a", "b")
    assert kernels_in(made.ptx) == ["b", "b__gradient", "b__tape"]
    for of in (made.entries, made.forward, made.second):
        assert (of["a"].primal, of["a"].gradient) == (None, None)
        assert of["a"].primal_refused is not None
        assert "Parsing error near 'x'" in of["a"].primal_refused.reason
        assert of["b"].primal_refused is None


def test_another_error_of_ptxas_is_a_crash(workspace: Workspace, fake_process: FakeProcess) -> None:
    fake_process.reply("ptxas", returncode=255, stderr="ptxas k.ptx, line 3; error   : Parsing error near 'x'\n")
    with pytest.raises(CompilerCrashError, match=r"ptxas failed: .*Parsing error") as caught:
        finish(workspace)
    assert caught.value.log is not None
    assert "Parsing error" in caught.value.log.read_text()
