"""What `adgen toolchain install` does: the pinned Enzyme and OpenMP library, Debian packages, adgen's own passes."""

from __future__ import annotations

import os
import shutil

from enzyme_driver import command
from enzyme_driver.command import Runner
from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.enzyme import PINNED
from enzyme_driver.toolchain.find import Parts, ensure, identity, look, remembered
from enzyme_driver.toolchain.openmp import PINNED_LIBOMP, rename_library
from enzyme_driver.toolchain.packages import PIP_INSTALL, is_packaged
from enzyme_driver.toolchain.progress import OnStderr, Progress
from enzyme_driver.toolchain.values import LLVM_MAJOR, Problem, Tool, Toolchain
from enzyme_driver.toolchain.wheels import DOWNLOAD_TIMEOUT, failed, take

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
    if isinstance(_looked(settings, run).libomp, Problem):
        take(settings, PINNED_LIBOMP, run, told, lambda folder: rename_library(folder, run))
    if settings.enzyme is None:
        take(settings, PINNED, run, told)
    toolchain = ensure(settings, run=run, progress=told)
    identity(toolchain, settings)  # hashes the large files now, so that the first compilation need not
    return toolchain


def _lacks_llvm(settings: Settings, run: Runner) -> bool:
    """Whether Debian's packages would help: not where clang or opt is the user's own choice, or a Python package."""
    if settings.clang is not None or settings.opt is not None or settings.toolchain == "pypi":
        return False
    parts = _looked(settings, run)
    if not isinstance(parts.clang, Tool) or not isinstance(parts.opt, Tool):
        return True
    if is_packaged(parts.opt):
        return False
    return isinstance(parts.llvm, Problem) or isinstance(parts.libomp, Problem)


def _looked(settings: Settings, run: Runner) -> Parts:
    facts = remembered(settings)
    parts = look(settings, facts, run)
    facts.save()
    return parts


def install_debian_packages(settings: Settings, run: Runner, progress: Progress) -> None:
    """clang, opt, LLVM's headers and OpenMP library, pinned to their major by name; needs root and apt."""
    by_hand = f"as root: apt-get update && {command.in_shell(APT_INSTALL)}"
    if shutil.which("apt-get", path=os.pathsep.join(str(folder) for folder in settings.search)) is None:
        raise ToolchainError(
            f"LLVM {LLVM_MAJOR} (clang, opt, headers, libomp) is missing, and there is no apt-get to install it with",
            hint=f"`{PIP_INSTALL}`; or install LLVM {LLVM_MAJOR} yourself: ADGEN_CLANG and ADGEN_OPT name its tools",
        )
    if os.geteuid() != 0:
        hint = f"`{PIP_INSTALL}` needs no root; or {by_hand}"
        raise ToolchainError(f"LLVM {LLVM_MAJOR} (clang, opt, headers, libomp) is missing", hint=hint)
    with progress.step(f"installing {' '.join(DEBIAN_PACKAGES)}"):
        for argv in (("apt-get", "update", "--quiet"), APT_INSTALL):
            env = {"DEBIAN_FRONTEND": "noninteractive"}
            done = run(argv, timeout=DOWNLOAD_TIMEOUT, env=env)
            if not done.ok:
                raise failed(settings, done, f"{' '.join(argv[:2])} failed", by_hand)
