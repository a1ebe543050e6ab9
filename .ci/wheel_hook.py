"""Makes the wheel one for Linux on the machine that adgen's own code in build/built is compiled for (`make wheel`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Compiled(BuildHookInterface):  # type: ignore[type-arg]
    """Without that folder the wheel is for any platform: adgen compiles its code where it is first needed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        built = Path(self.root) / "build" / "built"
        if version == "standard" and built.is_dir():
            machine = json.loads((built / "fits.json").read_text(encoding="utf-8"))["machine"]
            build_data["force_include"][str(built)] = "enzyme_driver/built"
            build_data["tag"] = f"py3-none-manylinux_2_28_{machine}"
            build_data["pure_python"] = False
