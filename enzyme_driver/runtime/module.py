"""Kernels and functions of an artifact as Python objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from enzyme_driver.artifact import Artifact, read
from enzyme_driver.errors import ArtifactError, NameNotFoundError, UsageError
from enzyme_driver.model import (
    TARGETS,
    Entry,
    Signature,
    Target,
    bare_name,
    plain_name,
)
from enzyme_driver.runtime.backends.host import HostBackend
from enzyme_driver.runtime.call.calls import Backend
from enzyme_driver.runtime.function import Function
from enzyme_driver.runtime.kernel import Kernel
from enzyme_driver.settings import Settings


class _NoSuchEntryError(NameNotFoundError, AttributeError):
    """Also an AttributeError, so that `hasattr` and tab completion work."""


class Module:
    """The kernels and functions of an artifact on one target, each an attribute and an item.

    An instantiation of a template is `module["axpy<float>"]`, as an attribute `module.axpy_float`, and
    `module.axpy` where it is the only one. Overloads are named by their symbols.
    """

    def __init__(self, artifact: Artifact, target: Target, settings: Settings) -> None:
        self.artifact = artifact
        self.target = target
        host = target == "openmp"
        backend = HostBackend(artifact, settings.stack_bytes) if host else _cuda_backend(artifact, settings)
        names = Counter(entry.signature.name for entry in artifact.entries)
        self._entries: dict[str, Kernel | Function] = {
            name if names[name := entry.signature.name] == 1 else entry.signature.symbol: _opened(entry, backend)
            for entry in artifact.entries
        }

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return tuple(entry.signature for entry in self)

    def __getitem__(self, name: str) -> Kernel | Function:
        wanted, keys = plain_name(name), list(self._entries)
        overloads = [f"{key} for {entry.signature}" for key, entry in self._entries.items() if entry.name == name]
        found = [key for key in keys if wanted in {plain_name(key), _identifier(key)}]
        if overloads and not found:
            raise _NoSuchEntryError(f"{name!r} is overloaded", hint=f"name one by its symbol: {'; '.join(overloads)}")
        found = found or [key for key in keys if plain_name(key).endswith(f"::{wanted}")]
        found = found or [key for key in keys if wanted in {key.partition("<")[0], bare_name(key)}]
        if len(found) == 1:
            return self._entries[found[0]]
        import difflib

        near = [key for key in keys if key.startswith(name) or bare_name(key) == bare_name(name)]
        near = near or difflib.get_close_matches(name, keys)
        hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(self._entries) or 'no entries'}"
        raise _NoSuchEntryError(f"the artifact has no kernel or function {name!r}", hint=hint)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a kernel or a function: the caller knows which)
        if name.startswith("__") or "_entries" not in self.__dict__:
            raise AttributeError(name)
        return self[name]

    def __deepcopy__(self, memo: object) -> Module:
        return self

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"{self!r} is compiled code, which cannot be pickled",
            hint="compile or load it in the process that calls it, where it comes from the cache",
        )

    def __iter__(self) -> Iterator[Kernel | Function]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *map(_identifier, self._entries)]

    def __repr__(self) -> str:
        return f"<adgen module of {self.artifact.manifest.source.name} on {self.target}: {', '.join(self._entries)}>"


def standing_for(witness: Kernel | Function, subject: Kernel | Function) -> Kernel | Function:
    """The witness under the signature of what it is a witness of, which knows what is read and written.

    It carries what threads choose by atomics along with the number itself: it needs not know beforehand what remains.
    """
    parameters = tuple(replace(each, chosen=False, chosen_members=()) for each in subject.signature.parameters)
    signature = replace(subject.signature, parameters=parameters)
    entry = replace(witness._entry, signature=signature)  # noqa: SLF001  (of the same package)
    return _opened(entry, witness._backend)  # noqa: SLF001


def _opened(entry: Entry, backend: Backend) -> Kernel | Function:
    return Kernel(entry, backend) if entry.signature.kind == "kernel" else Function(entry, backend)


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _cuda_backend(artifact: Artifact, settings: Settings) -> Backend:
    from enzyme_driver.runtime.backends.cuda import CudaBackend

    return CudaBackend(artifact, settings.device_heap, settings.tape_limit)


def load(folder: Path | str, target: Target | None = None) -> Module:
    """The module of the artifact in `folder`; needs no compiler.

    `target` is "openmp" or "cuda" (default: the one that was built, OpenMP where both were). Raises ArtifactError
    where the artifact is damaged, of another version, or has no code for the target.
    """
    return open_module(read(folder), target)


def open_module(artifact: Artifact, target: Target | None = None, settings: Settings | None = None) -> Module:
    """The module of an artifact that was read already; arguments and errors as for `load`."""
    if target is not None and target not in TARGETS:
        raise UsageError(f"there is no target {target!r}", hint=f"the targets are {' and '.join(TARGETS)}")
    built = artifact.targets
    if not built or (target is not None and target not in built):
        wanted = target or " or ".join(TARGETS)
        raise ArtifactError(f"{artifact.folder} has no code for {wanted}", hint=f"compile it with `-t {wanted}`")
    return Module(artifact, target or built[0], settings or Settings.from_environment())
