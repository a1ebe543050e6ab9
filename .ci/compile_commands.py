"""compile_commands.py OUTPUT: how the toolchain that is in use compiles each of adgen's C++ files."""

import json
import sys
from pathlib import Path

from enzyme_driver import command
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain.build import compile_commands
from enzyme_driver.toolchain.find import compilers, look, remembered

settings = Settings.from_environment()
found = compile_commands(compilers(look(settings, remembered(settings), command.run)))
Path(sys.argv[1]).write_text(json.dumps(found, indent=1), encoding="utf-8")
sys.stdout.write(f"{sys.argv[1]}: {len(found)} files\n")
