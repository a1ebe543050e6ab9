"""What the user asks to be compiled: one frozen, checked value for the command line, the API and the cache."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from enzyme_driver.errors import UsageError
from enzyme_driver.model import MODES, TARGETS, Activity, Mode, Target

DEFAULT_ARCH = "sm_90"

Carried = Literal["duals", "sets", "global-sets"]

_ARCH = re.compile(r"sm_[1-9]\d+[af]?")
_NAME = re.compile(r"(::)?[A-Za-z_][\w:<>,.*&()\[\] +\-']*")
_FUNCTION = re.compile(r"(::)?[A-Za-z_]\w*(::[A-Za-z_]\w*)*")
_PART = r"[A-Za-z_]\w*(<[\w:<>, *&-]+>)?"
_PARAMETER = re.compile(rf"(::)?{_PART}(::{_PART})*(\.[A-Za-z_]\w*|\[\d+\])*")
"""Of a parameter or a member of it, or of a variable or a function with its namespaces."""
_OWN_FLAGS = {"-o", "-c", "-S", "-E", "-x", "-M", "-MD", "-MF", "-MM", "-emit-llvm", "-fsyntax-only", "-save-temps"}
_OWN_FLAG_STARTS = ("--cuda-gpu-arch", "--offload-arch", "--cuda-path", "--target=", "--cuda-device-only")


@dataclass(frozen=True)
class Request:
    """A file and how it is to be compiled; made by `new`, which checks every field.

    `names` are the kernels or functions asked for, as C++ spells them; none means all that the file has.
    `activity` holds pairs of a parameter's name and its activity. `modes` are the derivatives to be made.
    `inactive` names functions that the differentiation leaves alone, `derivatives` those with a gradient of their own.
    A `witness` has, in place of derivatives, numbers of another kind carried through the primal: dual numbers, which
    verify the derivatives of the same request without it, or sets of inputs.
    """

    path: Path
    names: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ("openmp",)
    archs: tuple[str, ...] = (DEFAULT_ARCH,)
    activity: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    fast_math: bool = False
    modes: tuple[Mode, ...] = ("reverse",)
    inactive: tuple[str, ...] = ()
    derivatives: tuple[tuple[str, str], ...] = ()
    witness: Carried | None = None
    primal_suffices: bool = False
    """Whether an entry is made that has no derivative, though it was asked for by its name."""

    @property
    def user_rules(self) -> str:
        """What is said of functions, as the passes read it: log;soft=soft_gradient."""
        return ";".join([*self.inactive, *("=".join(pair) for pair in self.derivatives)])


def new(
    path: str | Path,
    *,
    names: Iterable[str] = (),
    targets: Iterable[str] = ("openmp",),
    archs: Iterable[str] = (DEFAULT_ARCH,),
    activity: Mapping[str, str] | None = None,
    flags: Iterable[str] = (),
    fast_math: bool = False,
    modes: Iterable[str] = (),
    inactive: Iterable[str] = (),
    derivatives: Mapping[str, str] | None = None,
) -> Request:
    """The request for these options; raises UsageError for one that makes no sense.

    Equal meaning gives an equal request: repetitions are dropped, targets, activities and modes are put in order. The
    gradient is always made, so that mode "reverse" need not be named.
    """
    return Request(
        path=Path(path).expanduser().absolute(),
        names=_unique(_name(name) for name in _several("names", names)),
        targets=_targets(_several("targets", targets)),
        archs=_unique(_arch(arch) for arch in _several("archs", archs)) or (DEFAULT_ARCH,),
        activity=tuple(sorted(_activity(*pair) for pair in (activity or {}).items())),
        flags=tuple(_flag(flag) for flag in _several("flags", flags)),
        fast_math=bool(fast_math),
        modes=_modes(_several("modes", modes)),
        inactive=tuple(sorted({_function(name) for name in _several("inactive", inactive)})),
        derivatives=tuple(sorted((_function(f), _function(g)) for f, g in (derivatives or {}).items())),
    )


def _several(what: str, values: Iterable[str]) -> Iterable[str]:
    """A lone string would silently be taken letter by letter."""
    if isinstance(values, str):
        raise UsageError(f"{what} is a string, a sequence of strings is needed", hint=f"write [{values!r}]")
    return values


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _name(name: str) -> str:
    """A name is pasted into C++, so nothing that could end the expression is let through."""
    text = name.strip()
    if not _NAME.fullmatch(text):
        raise UsageError(
            f"{name!r} is not the name of a kernel or a function",
            hint="write it as in C++, for example price, ns::price or axpy<float>",
        )
    return text


def _targets(names: Iterable[str]) -> tuple[Target, ...]:
    wanted = set(names)
    for name in sorted(wanted - set(TARGETS)):
        raise UsageError(f"there is no target {name!r}", hint=f"the targets are {' and '.join(TARGETS)}")
    if not wanted:
        raise UsageError("no target is given", hint=f"the targets are {' and '.join(TARGETS)}")
    return tuple(target for target in TARGETS if target in wanted)


def _function(name: str) -> str:
    text = name.strip().removeprefix("::")
    if not _FUNCTION.fullmatch(text):
        raise UsageError(f"{name!r} is not the name of a function", hint="write it as in C++, such as ns::log_event")
    return text


def _modes(names: Iterable[str]) -> tuple[Mode, ...]:
    wanted = {"reverse", *names}
    for name in sorted(wanted - set(MODES)):
        raise UsageError(f"there is no mode {name!r}", hint=f"the modes are {' and '.join(MODES)}")
    return tuple(mode for mode in MODES if mode in wanted)


def _arch(arch: str) -> str:
    if not _ARCH.fullmatch(arch):
        raise UsageError(f"{arch!r} is not a GPU architecture", hint="write it as sm_80, sm_90, sm_100, ...")
    return arch


def _activity(name: str, activity: str) -> tuple[str, str]:
    if not _PARAMETER.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a parameter", hint="write it as x=const")
    if activity not in get_args(Activity):
        raise UsageError(
            f"parameter {name!r} cannot be {activity!r}", hint=f"an activity is one of {', '.join(get_args(Activity))}"
        )
    return name, activity


def _flag(flag: str) -> str:
    if "\0" in flag:
        raise UsageError(f"clang's option {flag!r} holds a zero byte", hint="leave it out")
    if flag in _OWN_FLAGS or flag.startswith(_OWN_FLAG_STARTS):
        raise UsageError(
            f"clang's option {flag} is set by adgen itself",
            hint="leave it out; --target, --arch and -o of adgen say what is built and where",
        )
    if not flag.startswith("-") and flag.endswith((".cu", ".cpp", ".cc", ".cxx", ".o", ".a", ".so")):
        raise UsageError(f"{flag} is a second file", hint="adgen compiles one file at a time; flags come after --")
    return flag
