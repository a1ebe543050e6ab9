"""The only reader of the environment: what a user may set, as one frozen value."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from enzyme_driver.errors import UsageError


def _text_as_path(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:  # pathlib's word for a user that is not there
        raise ValueError("no such user") from None


def _text_as_seconds(text: str) -> float:
    seconds = float(text)
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError("not a positive number of seconds")
    return seconds


def _text_as_optimisations(text: str) -> frozenset[str]:
    """Imported where it is needed: what only loads artifacts does not read the list of passes."""
    from enzyme_driver import optimisations

    return optimisations.parsed(text)


def _text_as_bytes(text: str) -> int:
    count = int(text)
    if count <= 0:
        raise ValueError("not a positive number of bytes")
    return count


def _origin(text: str) -> str:
    if text not in ("pypi", "system"):
        raise ValueError("no such origin")
    return text


Verify = Literal["first", "always", "never"]


def _text_as_verify(text: str) -> Verify:
    if text not in get_args(Verify):
        raise ValueError("not a time to verify")
    return cast("Verify", text)


def _setting(
    variable: str, parse: Callable[[str], object], wanted: str, purpose: str, default: str, value: object = None
) -> Any:  # noqa: ANN401  (dataclasses.field is typed the same way)
    """A field read from `variable`; `wanted` says what a good value is, `default` and `purpose` are for people."""
    facts = {"variable": variable, "parse": parse, "wanted": wanted, "purpose": purpose, "default": default}
    return field(default=value, metadata=facts)


def _path(variable: str, purpose: str, default: str) -> Any:  # noqa: ANN401
    return _setting(variable, _text_as_path, "a path", purpose, default)


@dataclass(frozen=True)
class Settings:
    """What the environment says. The `ADGEN_` variables come first, the places to search after them."""

    home: Path = _path(
        "ADGEN_HOME",
        "folder for Enzyme, adgen's own compiled passes and CUDA headers that clang has read",
        "the user's data folder",
    )
    cache_dir: Path = _path("ADGEN_CACHE_DIR", "folder for compiled artifacts", "the user's cache folder")
    enzyme: Path | None = _path(
        "ADGEN_ENZYME",
        "your own `LLVMEnzyme-NN.so` or `ClangEnzyme-NN.so`, used instead of the pinned Enzyme",
        "the pinned Enzyme",
    )
    timeout: float = _setting(
        "ADGEN_TIMEOUT",
        _text_as_seconds,
        "a positive number",
        "seconds of processor time that one compiler process may take for 4 MiB of IR",
        "60",
        60.0,
    )
    device_heap: int = _setting(
        "ADGEN_DEVICE_HEAP",
        _text_as_bytes,
        "a positive whole number",
        "bytes of the GPU heap that gradients with device `malloc` draw from",
        "1073741824",
        2**30,
    )
    tape_limit: int = _setting(
        "ADGEN_TAPE_LIMIT",
        _text_as_bytes,
        "a positive whole number",
        "bytes of GPU memory that a gradient may keep values in; where they are few, fewer blocks run at once",
        "8589934592",
        2**33,
    )
    disable: frozenset[str] = _setting(
        "ADGEN_DISABLE",
        _text_as_optimisations,
        "a list of optimisations with commas between them",
        "optimisations to leave out, with commas between them: `adgen compile --disable help` lists them",
        "none",
        frozenset(),
    )
    stack_bytes: int | None = _setting(
        "ADGEN_STACK_BYTES",
        _text_as_bytes,
        "a positive whole number",
        "bytes of stack of a CUDA thread that waits for others on the host, beside its variables",
        "65536",
    )
    verify: Verify | None = _setting(
        "ADGEN_VERIFY",
        _text_as_verify,
        "first, always or never",
        "when a gradient is compared with dual numbers before it is used: at the `first` call of what `adgen.compile` "
        "has made, `always`, or `never`",
        "first",
    )
    keep: Path | None = _path("ADGEN_KEEP", "folder in which the files of every stage are left", "nothing is left")
    toolchain: Literal["pypi", "system"] | None = _setting(
        "ADGEN_TOOLCHAIN",
        _origin,
        "`pypi` or `system`",
        "where clang and opt come from: Python packages, or the system (`PATH`, Debian's packages)",
        "the system where it has both, else Python packages",
    )
    clang: Path | None = _path("ADGEN_CLANG", "the clang 22 to use", "`clang-22` on `PATH`")
    opt: Path | None = _path("ADGEN_OPT", "the opt 22 to use", "`opt-22` on `PATH`")
    ptxas: Path | None = _path("ADGEN_PTXAS", "the ptxas to use", "`bin/ptxas` of the CUDA root")
    cuda_path: Path | None = _path(
        "ADGEN_CUDA_PATH", "the CUDA root (headers, libdevice, ptxas)", "that of Python packages: CUDA 13, else 12"
    )
    search: tuple[Path, ...] = ()
    user_home: Path | None = None
    spack_root: Path | None = None
    conda_prefix: Path | None = None

    @staticmethod
    def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
        """Read the environment (`os.environ` unless given); a bad value is a UsageError that names its variable."""
        env = os.environ if environment is None else environment
        _check_threads(env)
        given = {item.name: _read(env, item.metadata) for item in fields(Settings) if item.metadata}
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return Settings(
            **_default_folders(chosen),
            **chosen,
            search=tuple(Path(part) for part in env.get("PATH", os.defpath).split(os.pathsep) if part),
            user_home=_optional_path(env, "HOME"),
            spack_root=_optional_path(env, "SPACK_ROOT"),
            conda_prefix=_optional_path(env, "CONDA_PREFIX"),
        )


def _read(env: Mapping[str, str], facts: Mapping[str, Any]) -> object:
    """The parsed value of one variable; None where it is not set or empty."""
    text = env.get(facts["variable"], "").strip()
    if not text:
        return None
    try:
        value: object = facts["parse"](text)
    except ValueError:
        raise UsageError(
            f"{facts['variable']}={text!r} is not {facts['wanted']}",
            hint=f"set {facts['variable']} to {facts['wanted']}, or unset it (default: {facts['default']})",
        ) from None
    return value


_MOST_THREADS = 1 << 20
"""OpenMP's runtime ends the process where it is asked for very many, and takes 0 for 1 with a warning."""


def _check_threads(env: Mapping[str, str]) -> None:
    text = env.get("OMP_NUM_THREADS", "").strip()
    counts = [part.strip() for part in text.split(",")] if text else []
    if not all(part.isdecimal() and 1 <= int(part[:20]) <= _MOST_THREADS for part in counts):
        raise UsageError(
            f"OMP_NUM_THREADS={text!r} is not a number of threads",
            hint="set it to 1, 2, 3, ... (with commas between those of nested regions), or unset it",
        )


def _optional_path(env: Mapping[str, str], variable: str) -> Path | None:
    text = env.get(variable, "")
    return Path(text) if text else None


def _default_folders(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The folders of the platform, asked for only where a variable does not give them."""
    if "home" in chosen and "cache_dir" in chosen:
        return {}
    import platformdirs

    folders = {"home": platformdirs.user_data_path("adgen"), "cache_dir": platformdirs.user_cache_path("adgen")}
    return {name: folder for name, folder in folders.items() if name not in chosen}


def with_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with `extra` on top, for a process to be started."""
    return {**os.environ, **extra}


def settings_table() -> str:
    """The `ADGEN_` variables as a Markdown table, made from the fields of `Settings`."""
    rows = ["| variable | what it sets | default |", "|---|---|---|"]
    facts = (item.metadata for item in fields(Settings) if item.metadata)
    rows += [f"| `{fact['variable']}` | {fact['purpose']} | {fact['default']} |" for fact in facts]
    return "\n".join(rows)
