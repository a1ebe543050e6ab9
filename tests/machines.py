"""A made-up machine: files that look like tools, and a fake process that answers for them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from fakes import FakeProcess, executable, writes_output

from enzyme_driver.errors import ToolchainError
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain, cuda, ensure, enzyme

VERSIONS = {
    "clang": "Debian clang version 22.1.8 (1~deb12u1)\nTarget: x86_64-pc-linux-gnu\n",
    "opt": "Debian LLVM version 22.1.8\n  Optimized build.\n",
    "ptxas": "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.0, V13.0.88\n",
}
LLVM_ARCHS = "Available CPUs for this target:\n\n" + "".join(
    f"  {arch:7} - Select the {arch} processor.\n" for arch in ("sm_52", "sm_75", "sm_90", "sm_90a", "sm_101", "sm_100")
)
PTXAS_ARCHS = (
    "  Allowed values:  'compute_90','lto_90','sm_75',\n  'sm_90','sm_90a','sm_100'.\n  deprecated: sm_70 or higher\n"
)


class Silent:
    def step(self, text: str) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()


class Machine:
    """A made-up machine in a folder: LLVM under `llvm`, a CUDA root under `cu13`, links on PATH."""

    def __init__(self, root: Path, process: FakeProcess) -> None:
        self.root = root
        self.llvm = root / "llvm"
        self.cuda = root / "cu13"
        self.process = process
        self.settings = Settings(
            home=root / "data",
            cache_dir=root / "cache",
            search=(root / "bin",),
            cuda_path=self.cuda,
            user_home=root,
            toolchain="system",
        )
        self._make_llvm()
        self._make_cuda()
        executable(enzyme.PINNED.file(self.settings))
        self._answer()

    def _make_llvm(self) -> None:
        (self.root / "bin").mkdir()
        for name in ("clang", "opt"):
            tool = executable(self.llvm / "bin" / name, name)
            (self.root / "bin" / f"{name}-22").symlink_to(tool)
        executable(self.llvm / "lib" / "libomp.so.5")
        header = self.llvm / "include" / "llvm" / "Config" / "abi-breaking.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define LLVM_ENABLE_ABI_BREAKING_CHECKS 0\n")

    def _make_cuda(self) -> None:
        for name in (*cuda.FILES, "bin/ptxas"):
            executable(self.cuda / name, name)

    def _answer(self) -> None:
        for name, text in VERSIONS.items():
            self.process.reply(name, "--version", stdout=text)
        for name in ("clang-22", "opt-22"):
            self.process.reply(name, "--version", stdout=VERSIONS[name.removesuffix("-22")])
        self.process.reply("-mcpu=help", stderr=LLVM_ARCHS)
        self.process.reply("ptxas", "--help", stdout=PTXAS_ARCHS)
        self.process.reply("-o", effect=writes_output())

    def ensure(self, settings: Settings | None = None) -> Toolchain:
        return ensure(settings or self.settings, run=self.process, progress=Silent())

    def problem(self, settings: Settings | None = None) -> ToolchainError:
        with pytest.raises(ToolchainError) as caught:
            self.ensure(settings)
        return caught.value
