"""The two sources of Enzyme: the executable of a pinned wheel, and a pass plugin of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.search import SETUP
from enzyme_driver.toolchain.values import LLVM_MAJOR, Candidate, EnzymeSource, Problem, Tool
from enzyme_driver.toolchain.wheels import Member, Pin, for_this_machine


def _pin(machine: str, wheel: str, executable: str) -> Pin:
    """The wheel for a machine, with the digests of it and of its executable."""
    version, platform = "0.15.0", f"manylinux_2_28_{machine}"
    members = (Member(f"pennylane_catalyst-{version}.data/data/bin/catalyst", executable),)
    otherwise = f"install Enzyme for LLVM {LLVM_MAJOR} yourself and name the plugin in ADGEN_ENZYME"
    return Pin("enzyme", "pennylane-catalyst", version, "3.11", platform, wheel, members, otherwise)


PINNED = for_this_machine(
    _pin(
        "x86_64",
        "9254b59d305a7891ee0fafbe71690e5e0084cc2f0c09b7876556257a361c0beb",
        "e5d329f13e928d388c5be6e1f54a2ccb47895ef44203eed31a32d2df8173ca89",
    ),
    _pin(
        "aarch64",
        "59cba4710637b4af5ac011c4fcdd1a85042ae1e6effe7b973d30c3b8a11cd9d4",
        "c8369df02e0c547391df18263b7512179ed4ef9b3eab17e0177abfe029e04c12",
    ),
)
"""The wheel that holds Enzyme, with an LLVM of the same major, inside one executable."""

_PLUGIN = re.compile(r"(?:LLVM|Clang)Enzyme-(\d+)\.(?:so|dylib)")

HOMEBREW = (Path("/opt/homebrew"), Path("/usr/local"), Path("/home/linuxbrew/.linuxbrew"))
NIX_SYSTEM = Path("/run/current-system/sw")


def find_enzyme(settings: Settings, opt: Tool) -> EnzymeSource | Problem:
    """The plugin that ADGEN_ENZYME names; else the pinned wheel; else a plugin in one of the usual places."""
    if settings.enzyme is not None:
        return _plugin(Candidate(settings.enzyme, "ADGEN_ENZYME"), opt)
    executable = PINNED.file(settings)
    if executable.is_file():
        return EnzymeSource("wheel", executable, LLVM_MAJOR, None, f"wheel {PINNED.package} {PINNED.version}")
    unfit = []
    for candidate in usual_plugins(settings):
        source = _plugin(candidate, opt)
        if isinstance(source, EnzymeSource):
            return source
        unfit.append(source.reason)
    reason = "; ".join([f"Enzyme was not found: {executable} is not there", *unfit])
    return Problem("Enzyme", reason, f"{SETUP}, or name a plugin for LLVM {opt.major} in ADGEN_ENZYME")


def usual_plugins(settings: Settings) -> Iterator[Candidate]:
    """The plugins that package managers have installed, in a fixed order."""
    for place in (_homebrew, _spack, _nix, _conda):
        for label, folder in place(settings):
            found = sorted(path for path in folder.glob("*Enzyme-*") if _PLUGIN.fullmatch(path.name))
            yield from (Candidate(path, label) for path in found)


_Folders = Iterator[tuple[str, Path]]


def _homebrew(_: Settings) -> _Folders:
    yield from (("Homebrew", prefix / "opt" / "enzyme" / "lib") for prefix in HOMEBREW)


def _spack(settings: Settings) -> _Folders:
    if settings.spack_root is not None:
        installed = settings.spack_root / "opt" / "spack"
        for pattern in ("*/enzyme-*/lib", "*/*/enzyme-*/lib"):
            yield from (("Spack", folder) for folder in sorted(installed.glob(pattern)))


def _nix(settings: Settings) -> _Folders:
    yield "nixpkgs", NIX_SYSTEM / "lib"
    if settings.user_home is not None:
        yield "nixpkgs", settings.user_home / ".nix-profile" / "lib"


def _conda(settings: Settings) -> _Folders:
    if settings.conda_prefix is not None:
        yield "conda", settings.conda_prefix / "lib"


def _plugin(candidate: Candidate, opt: Tool) -> EnzymeSource | Problem:
    """The plugin, checked against opt before anything runs: LLVM's plugins fit only the major they were built for."""
    match = _PLUGIN.fullmatch(candidate.path.name)
    if match is None:
        reason = f"{candidate.path} ({candidate.found_by}) is not named LLVMEnzyme-NN.so or ClangEnzyme-NN.so"
        return Problem("Enzyme", reason, "give the plugin's file, whose name ends with the version of LLVM")
    if not candidate.path.is_file():
        reason = f"{candidate.path} ({candidate.found_by}) is not there"
        return Problem("Enzyme", reason, "correct or unset ADGEN_ENZYME (unset, the pinned Enzyme is used)")
    major = int(match.group(1))
    if major != opt.major:
        reason = (
            f"{candidate.path} ({candidate.found_by}) is built for LLVM {major}, but {opt.path} is LLVM {opt.version}"
        )
        hint = f"use a plugin built for LLVM {opt.major} (LLVMEnzyme-{opt.major}.so), or unset ADGEN_ENZYME"
        return Problem("Enzyme", reason, hint)
    return EnzymeSource("plugin", candidate.path, major, opt, candidate.found_by)
