"""Every failure a user can meet, one class and one exit code each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Location:
    """A place in the user's source."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts)


class AdgenError(Exception):
    """Base of all errors that adgen raises on purpose.

    `reason` says what is wrong, `hint` what to do about it, `location` where in the user's source,
    `log` names a file with the raw output of the tool that failed.
    """

    exit_code = 1
    kind = "error"

    def __init__(
        self,
        reason: str,
        *,
        hint: str = "",
        location: Location | None = None,
        log: Path | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.location = location
        self.log = log

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        lines = [f"{where}{self.reason}"]
        if self.hint:
            lines.append(f"  what to do: {self.hint}")
        if self.log:
            lines.append(f"  full output: {self.log}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """The error as plain data, for `--json`."""
        where = self.location
        return {
            "error": self.kind,
            "exit_code": self.exit_code,
            "reason": self.reason,
            "hint": self.hint,
            "file": where.file if where else None,
            "line": where.line if where else None,
            "column": where.column if where else None,
            "log": str(self.log) if self.log else None,
        }


class UsageError(AdgenError, ValueError):
    """An option or a parameter of the API that makes no sense."""

    exit_code = 2
    kind = "usage"


class SourceError(AdgenError):
    """The user's file cannot be read or does not compile."""

    exit_code = 3
    kind = "source"


class NameNotFoundError(AdgenError, LookupError):
    """No kernel, function or parameter of that name."""

    exit_code = 4
    kind = "name"


class RefusedError(AdgenError):
    """The construct cannot be differentiated, or not on this target."""

    exit_code = 5
    kind = "refused"


class ToolchainError(AdgenError):
    """A tool is missing, does not fit, or does not know the requested architecture."""

    exit_code = 6
    kind = "toolchain"


class CompilerCrashError(AdgenError):
    """A compiler process crashed or did not end within its time limit."""

    exit_code = 7
    kind = "crash"


class ArgumentError(AdgenError, ValueError):
    """An argument of a call does not fit the kernel's signature."""

    exit_code = 8
    kind = "argument"


class ArtifactError(AdgenError):
    """An artifact is incomplete, damaged, or of another version."""

    exit_code = 9
    kind = "artifact"


class CacheError(AdgenError):
    """The cache or the output folder cannot be written."""

    exit_code = 10
    kind = "cache"


class CheckFailedError(AdgenError):
    """A gradient differs from finite differences by more than the tolerance."""

    exit_code = 11
    kind = "check"


class DeviceError(AdgenError, RuntimeError):
    """There is no usable GPU, or a launch failed on it."""

    exit_code = 12
    kind = "device"


class PrimalError(AdgenError, RuntimeError):
    """The user's own code failed while it ran, such as a C++ exception."""

    exit_code = 13
    kind = "primal"


class GradientMismatchError(AdgenError):
    """A gradient differs from what dual numbers say of the same primal; it is not returned."""

    exit_code = 14
    kind = "mismatch"


class DataRaceError(AdgenError):
    """Threads of the primal race for an element, so that its result depends on their order; it has no gradient."""

    exit_code = 15
    kind = "race"


ALL_ERRORS: tuple[type[AdgenError], ...] = (
    AdgenError,
    UsageError,
    SourceError,
    NameNotFoundError,
    RefusedError,
    ToolchainError,
    CompilerCrashError,
    ArgumentError,
    ArtifactError,
    CacheError,
    CheckFailedError,
    DeviceError,
    PrimalError,
    GradientMismatchError,
    DataRaceError,
)
