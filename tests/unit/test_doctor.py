"""The doctor's report: plain data, complete, and never an exception."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from fakes import executable
from machines import Machine

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import doctor, enzyme
from enzyme_driver.toolchain.facts import Facts


def findings(machine: Machine, settings: Settings | None = None) -> dict[str, doctor.Finding]:
    machine.process.reply("-print-file-name=libstdc++.so", stdout=f"{machine.root / 'libstdc++.so'}\n")
    machine.process.reply("-fsyntax-only", "prelude.h")
    found = doctor.doctor(settings or machine.settings, run=machine.process)
    assert len({finding.part for finding in found}) == len(found)
    return {finding.part: finding for finding in found}


@pytest.fixture
def healthy(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    executable(machine.root / "bin" / "ld")
    executable(machine.root / "libstdc++.so")
    pin = replace(enzyme.PINNED, members=(replace(enzyme.PINNED.members[0], sha256="0" * 64),))
    monkeypatch.setattr(doctor, "PINNED", pin)
    monkeypatch.setattr(Facts, "digest", lambda *_: pin.members[0].sha256)
    return machine


def test_a_healthy_machine(healthy: Machine) -> None:
    found = findings(healthy)
    assert [part for part, finding in found.items() if finding.required and not finding.ok] == []
    clang = found["clang"]
    path = str(healthy.root / "bin" / "clang-22")
    assert (clang.version, clang.path, clang.found_by) == ("22.1.8", path, "PATH")
    assert found["Python"].path == sys.executable
    assert "fits" in found["Enzyme"].version
    assert found["adgen's passes"].found_by == "will be compiled when it is first needed"
    healthy.ensure()
    assert findings(healthy)["adgen's passes"].found_by == "up to date"


def test_the_report_is_plain_data(healthy: Machine) -> None:
    report = [asdict(finding) for finding in findings(healthy).values()]
    assert json.loads(json.dumps(report)) == report


def test_an_empty_machine_is_reported_not_raised(
    healthy: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda _: None)  # type: ignore[attr-defined]
    empty = Settings(home=tmp_path / "h", cache_dir=tmp_path / "c", cuda_path=tmp_path / "none")
    found = findings(healthy, empty)
    for part in ("clang", "opt", "ptxas", "CUDA root", "libomp", "Enzyme", "linker"):
        assert not found[part].ok, part
        assert found[part].problem
        assert found[part].hint
    assert not found["GPU"].required


def test_headers_that_are_missing(healthy: Machine) -> None:
    findings(healthy)
    said = "prelude.h:4:10: fatal error: 'cstddef' file not found"
    healthy.process.reply("-fsyntax-only", "prelude.h", returncode=1, stderr=said)
    found = {finding.part: finding for finding in doctor.doctor(healthy.settings, run=healthy.process)}["C++ library"]
    assert (found.ok, found.required) == (False, True)
    assert "headers of C" in found.problem
    assert "libstdc++-12-dev" in found.hint


@pytest.mark.parametrize(
    ("machine_name", "library", "said"),
    [
        ("x86_64", ("", ""), "no glibc"),
        ("x86_64", ("glibc", "2.17"), "glibc 2.28 or newer; this one has glibc 2.17"),
        ("riscv64", ("glibc", "2.36"), "this is linux riscv64"),
    ],
)
def test_a_system_that_no_wheel_fits(
    healthy: Machine, monkeypatch: pytest.MonkeyPatch, machine_name: str, library: tuple[str, str], said: str
) -> None:
    monkeypatch.setattr(doctor.platform, "machine", lambda: machine_name)  # type: ignore[attr-defined]
    monkeypatch.setattr(doctor.platform, "libc_ver", lambda: library)  # type: ignore[attr-defined]
    found = findings(healthy)["system"]
    assert not found.ok
    assert said in found.problem
    assert "ADGEN_ENZYME" in found.hint


def test_a_mismatched_pair(healthy: Machine) -> None:
    plugin = executable(healthy.root / "LLVMEnzyme-20.so")
    found = findings(healthy, replace(healthy.settings, enzyme=plugin))["Enzyme"]
    assert not found.ok
    assert "LLVM 20" in found.problem
    assert "22.1.8" in found.problem


def test_a_changed_enzyme(machine: Machine) -> None:
    found = findings(machine)["Enzyme"]
    assert not found.ok
    assert "digest" in found.problem


def test_folders_that_cannot_be_written(healthy: Machine) -> None:
    found = findings(healthy, replace(healthy.settings, cache_dir=Path("/dev/null/cache")))
    assert not found["ADGEN_CACHE_DIR"].ok
    assert "ADGEN_CACHE_DIR" in found["ADGEN_CACHE_DIR"].hint
    assert found["ADGEN_HOME"].ok


def test_llvmlite_of_another_llvm(healthy: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    from llvmlite import binding

    monkeypatch.setattr(binding, "llvm_version_info", (20, 1, 8))
    found = findings(healthy)["llvmlite"]
    assert not found.ok
    assert "LLVM 20.1.8" in found.problem


def test_gpus_are_named(healthy: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeDevice:
        name = "NVIDIA H200"
        arch = "90"

        @staticmethod
        def get_all_devices() -> tuple[FakeDevice, ...]:
            return (FakeDevice(),)

    import cuda.core

    monkeypatch.setattr(cuda.core, "Device", FakeDevice)
    assert findings(healthy)["GPU"].version == "NVIDIA H200 (sm_90)"


def test_plugins_of_package_managers_are_shown(healthy: Machine) -> None:
    assert "Enzyme plugins" not in findings(healthy)
    plugin = executable(healthy.root / "brew" / "opt" / "enzyme" / "lib" / "LLVMEnzyme-21.so")
    found = findings(healthy)["Enzyme plugins"]
    assert (found.path, found.found_by, found.required) == (str(plugin), "Homebrew", False)
    assert "ADGEN_ENZYME" in found.hint
    assert findings(healthy)["Enzyme"].ok
