"""The name of `enzyme_driver` for its users: `import adgen` gives that package, with the same modules and objects."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import enzyme_driver
from enzyme_driver import *  # noqa: F403  (what type checkers see)

_OWN = "enzyme_driver"


class _SameModules(MetaPathFinder, Loader):
    """`adgen.x` is the module `enzyme_driver.x`, imported once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        name, _, inner = fullname.partition(".")
        own = importlib.util.find_spec(f"{_OWN}.{inner}") if name == __name__ and inner else None
        if own is None:
            return None
        if inner == "__main__":  # runpy takes the code and gives it a module of its own
            return importlib.util.spec_from_file_location(fullname, own.origin)
        return ModuleSpec(fullname, self, is_package=own.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"{_OWN}.{spec.name.partition('.')[2]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the module stays the one that it was."""
        alias = module.__spec__
        if alias is not None:
            module.__spec__ = alias.loader_state


sys.meta_path.insert(0, _SameModules())
sys.modules[__name__] = enzyme_driver
