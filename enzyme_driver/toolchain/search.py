"""Where each tool may lie, and which of the candidates is taken."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.command import Runner
from enzyme_driver.errors import AdgenError, ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import packages
from enzyme_driver.toolchain.cuda import HINT, ptxas_candidates
from enzyme_driver.toolchain.facts import Facts
from enzyme_driver.toolchain.values import LLVM_MAJOR, Candidate, Origin, Problem, Tool

ASK_TIMEOUT = 20.0
"""Seconds that a tool may take to say its version."""

SETUP = "run `make setup` or `adgen toolchain install`"

NO_HEADERS = "this system lacks headers of C or C++"
HEADERS = (
    "install them: they come with any g++, on Debian with `apt-get install libstdc++-12-dev` alone, on Fedora and Red "
    "Hat with `dnf install libstdc++-devel`; `adgen doctor` says whether they are found"
)

DEBIAN_LLVM = Path(f"/usr/lib/llvm-{LLVM_MAJOR}/bin")


@dataclass(frozen=True)
class Wanted:
    """A tool that is looked for.

    `explicit` gives the user's own choice, which is never replaced by another; `places` are searched in order, those
    in Python packages are `packaged`.
    `version` finds the version in what `--version` prints; only `major` fits, where it is given.
    """

    name: str
    variable: str
    explicit: Callable[[Settings], Path | None]
    places: tuple[Callable[[Settings], Iterable[Candidate]], ...]
    version: re.Pattern[str]
    major: int | None
    hint: str
    packaged: Callable[[], Iterable[Candidate]] = tuple


def on_path(*names: str) -> Callable[[Settings], Iterator[Candidate]]:
    def candidates(settings: Settings) -> Iterator[Candidate]:
        for name in names:
            yield from (Candidate(folder / name, "PATH") for folder in settings.search)

    return candidates


def in_debian(name: str) -> Callable[[Settings], Iterator[Candidate]]:
    def candidates(_: Settings) -> Iterator[Candidate]:
        yield Candidate(DEBIAN_LLVM / name, str(DEBIAN_LLVM))

    return candidates


CLANG = Wanted(
    name="clang",
    variable="ADGEN_CLANG",
    explicit=lambda settings: settings.clang,
    places=(on_path(f"clang-{LLVM_MAJOR}", "clang"), in_debian("clang")),
    version=re.compile(r"clang version (\d+(?:\.\d+)+)"),
    major=LLVM_MAJOR,
    hint=f"{SETUP}, or `{packages.PIP_INSTALL}`, or on Debian `apt-get install clang-{LLVM_MAJOR}`",
    packaged=packages.clangs,
)
OPT = Wanted(
    name="opt",
    variable="ADGEN_OPT",
    explicit=lambda settings: settings.opt,
    places=(on_path(f"opt-{LLVM_MAJOR}", "opt"), in_debian("opt")),
    version=re.compile(r"LLVM version (\d+(?:\.\d+)+)"),
    major=LLVM_MAJOR,
    hint=f"{SETUP}, or `{packages.PIP_INSTALL}`, or on Debian `apt-get install llvm-{LLVM_MAJOR}`",
    packaged=packages.opts,
)
PTXAS = Wanted(
    name="ptxas",
    variable="ADGEN_PTXAS",
    explicit=lambda settings: settings.ptxas,
    places=(ptxas_candidates,),
    version=re.compile(r"V(\d+(?:\.\d+)+)"),
    major=None,
    hint=HINT,
)


def find_tool(
    wanted: Wanted, settings: Settings, facts: Facts, run: Runner, origin: Origin = "system"
) -> Tool | Problem:
    """The first candidate of this origin that is there, can be executed, and has the right version."""
    unfit = []
    for candidate in _candidates(wanted, settings, origin):
        if not (candidate.path.is_file() and os.access(candidate.path, os.X_OK)):
            continue
        tool = _ask_version(wanted, candidate, facts, run)
        if not isinstance(tool, Tool):
            unfit.append(f"{candidate.path} ({tool})")
        elif wanted.major not in (None, tool.major):
            unfit.append(f"{candidate.path} (version {tool.version})")
        else:
            return tool
    return _nothing_fits(wanted, settings, origin, unfit)


def _candidates(wanted: Wanted, settings: Settings, origin: Origin) -> Iterator[Candidate]:
    explicit = wanted.explicit(settings)
    if explicit is not None:
        yield Candidate(explicit, wanted.variable)
        return
    if origin == "pypi":
        yield from wanted.packaged()
        return
    packaged = {candidate.path for candidate in wanted.packaged()}  # on PATH too where an environment is active
    for place in wanted.places:
        yield from (candidate for candidate in place(settings) if candidate.path not in packaged)


def _ask_version(wanted: Wanted, candidate: Candidate, facts: Facts, run: Runner) -> Tool | str:
    """The tool with its version; in words why there is none, which is not remembered: a library may be missing."""

    def answer() -> str:
        done = run((candidate.path, "--version"), timeout=ASK_TIMEOUT)
        match = wanted.version.search(done.stdout)
        if match is None:
            raise ToolchainError(done.stderr.strip().partition("\n")[0] or "it says something else")
        return match.group(1)

    try:
        version = facts.about(candidate.path, "version number", answer)
    except AdgenError as problem:
        return f"does not say its version: {problem.reason}"
    return Tool(wanted.name, candidate.path, version, candidate.found_by)


def _nothing_fits(wanted: Wanted, settings: Settings, origin: Origin, unfit: list[str]) -> Problem:
    needed = f"{wanted.name} {wanted.major}" if wanted.major else wanted.name
    hint = wanted.hint
    explicit = wanted.explicit(settings)
    if explicit is not None:
        what = unfit[0] if unfit else f"{explicit}, which is not an executable file"
        reason = f"{wanted.variable} names {what}; {needed} is needed"
        return Problem(wanted.name, reason, f"correct or unset {wanted.variable}; {hint}")
    looked = dict.fromkeys(candidate.found_by for candidate in _candidates(wanted, settings, origin))
    nowhere = "no place (no CUDA root)" if wanted.major is None else packages.SITE_PACKAGES
    reason = f"{needed} was not found; looked in {', '.join(looked) or nowhere}"
    if unfit:
        reason += f"; of another version: {', '.join(unfit)}"
    return Problem(wanted.name, reason, hint)


def find_llvmlite() -> Path | Problem:
    """The library of the Python package llvmlite, without importing it."""
    package = importlib.util.find_spec("llvmlite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        for library in sorted((Path(folder) / "binding").glob("libllvmlite.*")):
            return library
    return Problem("llvmlite", "the Python package llvmlite is not installed", f"{SETUP}, or `pip install llvmlite`")


_ARCHS_OF_LLVM = re.compile(r"^\s+(sm_\d+[a-z]?)\s+- ", re.MULTILINE)
_ARCHS_OF_PTXAS = re.compile(r"'(sm_\d+[a-z]?)'")


def find_archs(opt: Tool, ptxas: Tool, facts: Facts, run: Runner) -> tuple[str, ...]:
    """The GPU architectures that both know, in ascending order; clang of Python packages has no list of them."""
    ask = ("-mtriple=nvptx64", "-mcpu=help", "-disable-output", "/dev/null")
    of_llvm = _ask_archs(opt, ask, _ARCHS_OF_LLVM, facts, run)
    of_ptxas = _ask_archs(ptxas, ("--help",), _ARCHS_OF_PTXAS, facts, run)
    return tuple(sorted(of_llvm & of_ptxas, key=lambda arch: (int(re.sub(r"\D", "", arch)), arch)))


def _ask_archs(tool: Tool, options: tuple[str, ...], names: re.Pattern[str], facts: Facts, run: Runner) -> set[str]:
    """The names in what a tool says about architectures; opt lists them on standard error."""

    def answer() -> str:
        done = run((tool.path, *options), timeout=ASK_TIMEOUT)
        return " ".join(names.findall(done.stdout + done.stderr))

    return set(facts.about(tool.path, "archs", answer).split())
