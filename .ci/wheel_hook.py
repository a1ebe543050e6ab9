"""Makes the wheel one for Linux on x86-64 where adgen's own code lies compiled in build/built (`make wheel`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAG = "py3-none-manylinux_2_28_x86_64"


class Compiled(BuildHookInterface):  # type: ignore[type-arg]
    """Without that folder the wheel is for any platform: adgen compiles its code where it is first needed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        built = Path(self.root) / "build" / "built"
        if version == "standard" and built.is_dir():
            build_data["force_include"][str(built)] = "enzyme_driver/built"
            build_data["tag"] = TAG
            build_data["pure_python"] = False
