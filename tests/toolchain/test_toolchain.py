"""The real tools: they are what the search believes them to be, and they fit together."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from machines import Silent

from enzyme_driver import resources
from enzyme_driver.command import Completed, run
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.targets import emit
from enzyme_driver.toolchain import Toolchain, check_arch, ensure, identity
from enzyme_driver.toolchain.build import ROOMS, compile_commands
from enzyme_driver.toolchain.doctor import doctor
from enzyme_driver.toolchain.enzyme import PINNED
from enzyme_driver.toolchain.find import compilers, look, remembered

PTX = ".version 8.0\n.target {arch}\n.address_size 64\n.visible .entry empty() {{ ret; }}\n"


def test_every_required_part_is_well(toolchain: Toolchain, machine_settings: Settings) -> None:
    assert toolchain.clang.major == 22
    assert [finding for finding in doctor(machine_settings) if finding.required and not finding.ok] == []


@pytest.mark.usefixtures("toolchain")
def test_the_warm_path_starts_no_process_and_is_fast(machine_settings: Settings) -> None:
    def refuse(argv: object, **_: object) -> Completed:
        raise AssertionError(argv)

    def read_all() -> None:
        for room in ROOMS:
            for source in resources.own_sources(room):
                hashlib.sha256(source.read_bytes())

    identity(ensure(machine_settings), machine_settings)
    reading = seconds(read_all)
    assert seconds(lambda: identity(ensure(machine_settings, run=refuse), machine_settings)) < 4 * reading


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, the least of several."""
    times = []
    for _ in range(7):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_opt_loads_the_passes(toolchain: Toolchain, tmp_path: Path) -> None:
    module = tmp_path / "empty.ll"
    module.write_text("define void @f() {\n  ret void\n}\n")
    argv = (toolchain.opt.path, f"-load-pass-plugin={toolchain.passes}", "-passes=verify", "-S", module, "-o", "-")
    done = run(argv, timeout=60)
    assert done.ok, done.stderr
    assert "@f" in done.stdout


def test_the_pinned_enzyme_is_the_pinned_bytes(toolchain: Toolchain) -> None:
    if toolchain.enzyme.kind != "wheel":
        pytest.skip("the user's own Enzyme is in use")
    with toolchain.enzyme.path.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == PINNED.members[0].sha256


def test_the_host_runtime_is_an_object_file(toolchain: Toolchain) -> None:
    assert toolchain.host_runtime.read_bytes().startswith(b"\x7fELF")
    assert toolchain.libomp.read_bytes().startswith(b"\x7fELF")


def test_the_rules_are_bitcode_that_opt_reads(toolchain: Toolchain) -> None:
    assert run((toolchain.opt.path, "-passes=verify", "-disable-output", toolchain.rules), timeout=60).ok


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_ptxas_knows_the_archs(toolchain: Toolchain, tmp_path: Path, arch: str) -> None:
    check_arch(arch, toolchain)
    source, cubin = tmp_path / "empty.ptx", tmp_path / "empty.cubin"
    source.write_text(PTX.format(arch=arch))
    done = run((toolchain.ptxas.path, f"-arch={arch}", source, "-o", cubin), timeout=60)
    assert done.ok, done.stderr
    assert cubin.read_bytes().startswith(b"\x7fELF")


def test_ptxas_refuses_what_check_arch_refuses(toolchain: Toolchain, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="sm_52"):
        check_arch("sm_52", toolchain)
    source = tmp_path / "empty.ptx"
    source.write_text(PTX.format(arch="sm_52"))
    assert not run((toolchain.ptxas.path, "-arch=sm_52", source, "-o", tmp_path / "x"), timeout=60).ok


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100", "sm_120"])
def test_ptx_is_written_for_and_taken_by(arch: str, toolchain: Toolchain, tmp_path: Path) -> None:
    module, ptx = tmp_path / "empty.ll", tmp_path / "empty.ptx"
    module.write_text(
        'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @empty() {\n  ret void\n}\n', encoding="utf-8"
    )
    assert run((sys.executable, emit.__file__, module, ptx, arch, "2", ""), timeout=60).ok
    assert run((toolchain.ptxas.path, f"-arch={arch}", ptx, "-o", tmp_path / "x"), timeout=60).ok


def test_a_mismatched_plugin_is_refused(machine_settings: Settings, tmp_path: Path) -> None:
    plugin = tmp_path / "LLVMEnzyme-19.so"
    plugin.write_bytes(b"")
    with pytest.raises(ToolchainError, match=r"LLVM 19.*LLVM 22"):
        ensure(replace(machine_settings, enzyme=plugin))


def test_two_that_compile_the_passes_at_once_agree(
    toolchain: Toolchain, machine_settings: Settings, tmp_path: Path
) -> None:
    """The second waits for the first, and takes what it has made."""
    from concurrent.futures import ThreadPoolExecutor

    home = tmp_path / "home"
    (home / "build").mkdir(parents=True)
    (home / "build" / "objects").symlink_to(toolchain.passes.parent.parent / "objects")
    for room in ("enzyme", "openmp"):
        (home / room).symlink_to(machine_settings.home / room)
    settings = replace(machine_settings, home=home)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ensure(settings, progress=Silent()), range(2))
    assert first == second
    assert sorted(path.name for path in (home / "build").iterdir()) == sorted(
        [".lock", "objects", first.passes.parent.name]
    )


def test_compile_commands_name_every_source(machine_settings: Settings) -> None:
    parts = look(machine_settings, remembered(machine_settings), run)
    found = compile_commands(compilers(parts))
    rooms = [resources.PACKAGE / room for room in ("passes", "host_runtime")]
    sources = {str(path) for room in rooms for path in room.rglob("*.cpp")}
    assert {entry["file"] for entry in found} == sources
    for entry in found:
        arguments = entry["arguments"]
        assert isinstance(arguments, list)
        assert Path(arguments[0]).is_file()
        assert arguments[-1] == entry["file"]
