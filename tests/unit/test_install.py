"""What `adgen toolchain install` fetches, by which commands, and what it says when it cannot."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import executable
from machines import Machine, Silent

from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import install, wheels
from enzyme_driver.toolchain.enzyme import PINNED
from enzyme_driver.toolchain.openmp import PINNED_LIBOMP
from enzyme_driver.toolchain.wheels import Member, Pin

CONTENT = b"an executable with Enzyme in it"
APT_INSTALL = (
    *("apt-get", "install", "--yes", "--quiet", "--no-install-recommends"),
    *("clang-22", "llvm-22", "llvm-22-dev", "libomp-22-dev"),
)


@pytest.fixture
def pin(monkeypatch: pytest.MonkeyPatch) -> Pin:
    """The pin of a small made-up wheel."""
    small = replace(PINNED, members=(Member(PINNED.members[0].path, hashlib.sha256(CONTENT).hexdigest()),))
    monkeypatch.setattr(install, "PINNED", small)
    monkeypatch.setattr(wheels.platform, "machine", lambda: "x86_64")  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "platform", "linux")
    return small


def fake_pip(member: str, content: bytes = CONTENT) -> Callable[[tuple[str, ...]], object]:
    """The effect of pip: a wheel in the folder after `--dest`; its requirements file is read as pip would."""

    def download(argv: tuple[str, ...]) -> None:
        requirements = Path(argv[argv.index("--requirement") + 1]).read_text()
        assert requirements == f"pennylane-catalyst==0.15.0 --hash=sha256:{PINNED.wheel_sha256}\n"
        with zipfile.ZipFile(Path(argv[argv.index("--dest") + 1]) / "x.whl", "w") as wheel:
            wheel.writestr(member, content)
            wheel.writestr("catalyst/__init__.py", "")

    return download


def take_enzyme(machine: Machine, pin: Pin) -> Path:
    return wheels.take(machine.settings, pin, machine.process, Silent()) / pin.members[0].name


def leftovers(settings: Settings) -> list[str]:
    folder = settings.home / "enzyme"
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock") if folder.is_dir() else []


@pytest.fixture
def bare(machine: Machine) -> Machine:
    """A machine without Enzyme."""
    PINNED.file(machine.settings).unlink()
    PINNED.folder(machine.settings).rmdir()
    return machine


def test_the_exact_download_and_one_file_out_of_it(bare: Machine, pin: Pin) -> None:
    bare.process.reply("pip", "download", effect=fake_pip(pin.members[0].path))
    target = take_enzyme(bare, pin)
    assert target == bare.settings.home / "enzyme" / "0.15.0" / "catalyst"
    assert target.read_bytes() == CONTENT
    assert target.stat().st_mode & 0o777 == 0o755
    assert leftovers(bare.settings) == ["0.15.0"]
    (argv,) = bare.process.argvs
    scratch = argv[argv.index("--dest") + 1]
    assert argv == (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
        *("--platform", "manylinux_2_28_x86_64", "--dest", scratch),
        *("--requirement", f"{scratch}/requirements.txt"),
    )


def test_enzyme_that_is_there_is_not_fetched(machine: Machine, pin: Pin) -> None:
    take_enzyme(machine, pin)
    assert machine.process.calls == []


def test_a_failed_download_says_what_pip_said(bare: Machine, pin: Pin) -> None:
    bare.process.reply("pip", returncode=1, stderr="WARNING: slow\nERROR: No matching distribution found\n\n")
    with pytest.raises(ToolchainError, match="No matching distribution found") as caught:
        take_enzyme(bare, pin)
    assert caught.value.log is not None
    assert "WARNING: slow" in caught.value.log.read_text()
    assert "adgen toolchain install" in caught.value.hint
    assert leftovers(bare.settings) == []


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        (fake_pip(PINNED.members[0].path, b"changed"), "has the digest"),
        (fake_pip("another/member"), "cannot be taken out"),
        (lambda argv: (Path(argv[argv.index("--dest") + 1]) / "x.whl").write_bytes(b"cut off"), "cannot be taken out"),
        (lambda _: None, "could not download"),
    ],
)
def test_a_damaged_wheel_leaves_nothing(
    bare: Machine, pin: Pin, effect: Callable[[tuple[str, ...]], object], said: str
) -> None:
    bare.process.reply("pip", effect=effect)
    with pytest.raises(ToolchainError, match=said):
        take_enzyme(bare, pin)
    assert leftovers(bare.settings) == []


def test_another_platform_is_told_of_the_plugin(bare: Machine, pin: Pin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels.platform, "machine", lambda: "aarch64")  # type: ignore[attr-defined]
    with pytest.raises(ToolchainError, match="linux aarch64") as caught:
        take_enzyme(bare, pin)
    assert "ADGEN_ENZYME" in caught.value.hint
    assert bare.process.calls == []


def install_all(machine: Machine, settings: Settings | None = None) -> None:
    install.install(settings or machine.settings, run=machine.process, progress=Silent())


@pytest.mark.usefixtures("pin")
def test_nothing_is_installed_where_nothing_is_missing(machine: Machine) -> None:
    install_all(machine)
    machine.process.calls.clear()
    install_all(machine)
    assert machine.process.calls == []


def test_a_plugin_of_the_user_needs_no_wheel(bare: Machine) -> None:
    plugin = executable(bare.root / "LLVMEnzyme-22.so")
    install_all(bare, replace(bare.settings, enzyme=plugin))
    assert not any("pip" in argv for argv in bare.process.argvs)


@pytest.fixture
def without_opt(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Root on a Debian machine that lacks opt."""
    (machine.root / "bin" / "opt-22").unlink()
    executable(machine.root / "bin" / "apt-get")
    monkeypatch.setattr(install.os, "geteuid", lambda: 0)  # type: ignore[attr-defined]
    return machine


@pytest.mark.usefixtures("pin")
def test_root_on_debian_installs_the_packages(without_opt: Machine) -> None:
    link = without_opt.root / "bin" / "opt-22"
    without_opt.process.reply("apt-get", "update")
    without_opt.process.reply("apt-get", "install", effect=lambda _: link.symlink_to(without_opt.llvm / "bin" / "opt"))
    install_all(without_opt)
    calls = [call for call in without_opt.process.calls if call.argv[0] == "apt-get"]
    assert [call.argv for call in calls] == [("apt-get", "update", "--quiet"), APT_INSTALL]
    assert all(call.env == {"DEBIAN_FRONTEND": "noninteractive"} for call in calls)


def test_what_apt_says_is_kept(without_opt: Machine) -> None:
    without_opt.process.reply("apt-get", "update")
    without_opt.process.reply("apt-get", "install", returncode=100, stderr="E: Unable to locate package clang-22\n")
    with pytest.raises(ToolchainError, match="apt-get install failed: E: Unable to locate package clang-22") as caught:
        install_all(without_opt)
    assert "apt-get update && apt-get install" in caught.value.hint


def test_who_is_not_root_is_told_the_command(without_opt: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.os, "geteuid", lambda: 1000)  # type: ignore[attr-defined]
    with pytest.raises(ToolchainError) as caught:
        install_all(without_opt)
    assert f"as root: apt-get update && {' '.join(APT_INSTALL)}" in caught.value.hint
    assert not any("apt-get" in argv for argv in without_opt.process.argvs)


def test_without_apt_the_tools_are_named(without_opt: Machine) -> None:
    (without_opt.root / "bin" / "apt-get").unlink()
    with pytest.raises(ToolchainError, match="no apt-get") as caught:
        install_all(without_opt)
    assert "ADGEN_OPT" in caught.value.hint


def test_the_users_own_clang_is_no_reason_to_install(without_opt: Machine) -> None:
    with pytest.raises(ToolchainError, match="opt 22 was not found"):
        install_all(without_opt, replace(without_opt.settings, clang=without_opt.llvm / "bin" / "clang"))
    assert not any("apt-get" in argv for argv in without_opt.process.argvs)


def test_the_requirement_pins_version_and_content() -> None:
    assert PINNED.requirement.startswith("pennylane-catalyst==0.15.0 --hash=sha256:")
    assert PINNED_LIBOMP.requirement.startswith("cmeel-libomp==21.1.8 --hash=sha256:")
