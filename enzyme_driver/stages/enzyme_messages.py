"""Enzyme's messages in the user's words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from enzyme_driver.errors import Location

_PLACE = re.compile(r"(?P<file>[^:]+):(?P<line>[1-9]\d*):(?P<column>\d+): ")
_MARK = "enzyme-error: "
_FUNCTION = re.compile(rf"^{_MARK}.*? in function (?P<name>[^\s(]+) ", re.MULTILINE)

INVALID = "this nest of loops and branches: it writes code for the reverse sweep that is not valid"
# What LLVM's verifier says of it in the log, in front of the module.
_NOT_ATOMIC = "atomic memory access' operand must have a power-of-two size"
MIXED = (
    "memory that holds a number at one time and an address or an integer at another (shared memory used twice, "
    "unions, std::variant, lists, sets, maps of strings, derived classes with other members at one place)"
)

_NO_RULE = r"(?:No|no) (?:augmented forward pass|reverse pass|forward mode derivative) found"
_OF_BITS = (
    "use fabsf, copysignf, frexpf, ldexpf or rsqrtf, mark the inputs const, or say --derivative FUNCTION=GRADIENT"
)

_KNOWN = (
    (
        r"annot deduce type of copy",
        "a copy of memory whose type cannot be seen (a struct or an array copied as raw bytes)",
        "copy the members one by one, or give the struct only members of one type",
    ),
    (
        r"annot deduce type",
        "a value whose type cannot be seen",
        "avoid casts between integers and floating point in memory",
    ),
    (
        r"Enzyme: <analysis>",
        MIXED,
        "give each memory or a member of its own, or use std::vector, a lambda or a template parameter",
    ),
    (
        r"cannot handle unknown binary operator:\s+%\S+ = (\w+)",
        "integer arithmetic on the bits of floating point",
        _OF_BITS,
    ),
    (
        r"Active atomic inst not yet handled",
        "a change of floating point by atomics that is not an addition, or whose value before is used",
        "only atomicAdd whose result is not used has a derivative; write one value a thread and combine them later",
    ),
    (
        r"could not statically determine size of realloc",
        "memory that grows by realloc",
        "allocate it once with malloc, or use std::vector",
    ),
    (
        r"[Ii]llegal updateAnalysis|annot deduce adding type",
        "memory or a value that is used both as integers and as floating point",
        "use one type for it, or __float_as_int and __int_as_float on values",
    ),
    (
        r"unknown intrinsic\s+llvm\.([su](?:max|min)|abs|ctpop|ctlz|cttz|bswap|bitreverse|fsh[lr])\b",
        "integer arithmetic on the bits of floating point",
        "use fmaxf, fminf, fabsf or frexpf on the number itself, mark the inputs const, or say --derivative F=GRADIENT",
    ),
    (
        r"unknown intrinsic\s+(llvm\.[\w.]+)",
        "an operation that has no derivative rule",
        "leave it out of the differentiated part, or mark its inputs const",
    ),
    (
        rf"{_NO_RULE} for adgen_hidden_",
        "integer arithmetic on the bits of floating point",
        _OF_BITS,
    ),
    (
        rf"{_NO_RULE} for _*(setjmp|sigsetjmp|longjmp)",
        "a jump out of functions",
        "return a value that says what has happened, and ask for it",
    ),
    (
        rf"{_NO_RULE} for (?:[^\s(]+\()?(.+?)\)?$",
        "a call of a function whose body is not in this file",
        "define the function in the file or a header it includes",
    ),
    (
        _NOT_ATOMIC,
        "a long double that all threads of a team share, to which each would add at once",
        "use double in parallel regions",
    ),
    (
        r"function failed verification",
        INVALID,
        "leave inner loops in one place, with a flag in the loop's condition in place of break, continue and return",
    ),
    (
        r"constant_args\[i\] == DIFFE_TYPE::DUP_ARG",
        "a function that calls itself with arguments of which some have derivatives in one call and none in another",
        "write it as a loop, or leave the kernel out with -k",
    ),
    (
        r"getOrInsertConditionalIndex",
        "a choice between vectors of numbers (SSE, AVX, Eigen) that a loop carries on, as a largest value so far is",
        "write it for single numbers (Eigen: -DEIGEN_DONT_VECTORIZE), or say --derivative FUNCTION=GRADIENT",
    ),
    (
        r"No dominance between recurrences",
        "loops whose addresses depend on other loops beside them (a sort by merging, as thrust::sort of many elements)",
        "sort by loops over indices (insertion, bitonic), or say --derivative FUNCTION=GRADIENT",
    ),
    (r"global variable", "a global variable that has no shadow", "pass it as a parameter"),
    (
        r"cmpxchg|cannot handle unknown instruction|Unknown instruction",
        "an instruction without a derivative",
        "write it otherwise",
    ),
)


@dataclass(frozen=True)
class Message:
    """What went wrong, what to do, and where in the user's file, if Enzyme says so."""

    reason: str
    hint: str
    location: Location | None


def is_known(stderr: str) -> bool:
    """Whether there are words for it, also where Enzyme did not end by itself."""
    return any(re.search(pattern, stderr, re.MULTILINE) for pattern, _, _ in _KNOWN)


def functions(log: Path | None) -> frozenset[str]:
    """The functions that Enzyme names in the errors of a log."""
    return frozenset(found["name"] for found in _FUNCTION.finditer(_text(log)))


def _text(log: Path | None) -> str:
    return log.read_text("utf-8", "replace") if log and log.is_file() else ""


def translate_crash(last_words: str, log: Path | None) -> Message:
    """The last words of a crash, translated, unless the log says more of their cause."""
    return translate(_NOT_ATOMIC if _NOT_ATOMIC in _text(log) else last_words)


def translate(stderr: str) -> Message:
    """The first error among Enzyme's messages, translated; the raw text stays in the log."""
    lines = [line.partition(_MARK)[2] for line in stderr.splitlines() if _MARK in line] or stderr.splitlines() or [""]
    place = _PLACE.match(lines[0])
    location = Location(place["file"], int(place["line"]), int(place["column"])) if place else None
    for pattern, what, hint in _KNOWN:
        match = re.search(pattern, stderr, re.MULTILINE)
        if match:
            detail = f" ({match[1]})" if match.groups() else ""
            return Message(f"Enzyme cannot differentiate {what}{detail}", hint, location)
    return Message(f"Enzyme cannot differentiate this: {lines[0].strip()}", "see the full output", location)
