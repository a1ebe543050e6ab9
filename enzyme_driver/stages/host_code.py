"""The text of a file: which function a place is in, and a copy without what clang cannot read there.

A function of the device loses its body, and that is said. A statement of any other becomes a call of HOST, which only
host code may make: clang itself makes sure that nothing of a kernel is ever left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

HOST = "adgen_host_code_left_out"
"""A host function that the prelude declares."""

MISSING = re.compile(r"'(?P<name>[^']+)' file not found")

_TOKEN = re.compile(
    r"""(?P<space>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:\\.|/\*.*?\*/|[^\n\\])*)
      | (?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")
      | (?P<text>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
      | (?P<number>\.?\d(?:'?[\w.])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>\S)""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_ASIDE = re.compile(r"//[^\n]*|/\*.*?\*/|\b__has_include\s*\([^)]*\)", re.DOTALL)
"""In a condition of the preprocessor: comments, and the names of headers."""
_NAME = re.compile(r"(?<![\w'])[A-Za-z_]\w*")
_DEVICE = {"__global__", "__device__", "__constant__", "__managed__", "__shared__"}
_TYPES = {"struct", "class", "union", "enum"}
_BEFORE_BLOCK = {")", "else", "do", "try", ";", "}", ":", "const", "noexcept", "override", "mutable"}

_PREFIXES = {
    "cblas": "CBLAS", "cublas": "CUBLAS", "cudnn": "CUDNN", "cufft": "CUFFT", "cusolver": "CUSOLVER",
    "cusparse": "CUSPARSE", "lapack": "LAPACK", "mkl": "MKL", "mpi": "MPI", "nccl": "NCCL", "nvtoolsext": "NVTX",
    "nvtx": "NVTX", "omp.h": "OMP", "cuda_surface": "CUDA", "cuda_texture": "CUDA", "cuda_profiler": "CUDA",
    "surface_": "CUDA", "texture_": "CUDA", "nvml": "NVML", "curand": "CURAND", "cupti": "CUPTI", "nvrtc": "NVRTC",
    "aten/": "AT_", "c10/": "C10_", "torch/": "TORCH_", "thc/": "THC_", "boost/": "BOOST_", "cute/": "CUTE_",
    "cutlass/": "CUTLASS_", "eigen/": "EIGEN_", "fmt/": "FMT_", "glm/": "GLM_", "gtest/": "GTEST_", "opencv2/": "CV_",
    "cl/": "CL_", "pybind11/": "PYBIND11_", "spdlog/": "SPDLOG_",
}  # fmt: skip
"""How the macros begin that a library's headers define for their users, by how the headers' names or paths begin."""

_OF_CUDA = {"CUDA_VERSION", "CUDART_VERSION"}
"""What CUDA's own headers define."""

_BEHIND_LAMBDA = {";", ",", ")", "(", "."}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class Unread:
    """A function of the device whose body was left out, with the lines of that."""

    name: str
    lines: range
    kernel: bool


@dataclass(frozen=True)
class Body:
    """The lines of a function, its head included; `device` says that the head makes it code of the device."""

    lines: range
    device: bool


@dataclass(frozen=True)
class _Cut:
    """What is left out, and what stands for it."""

    start: int
    end: int
    call: str
    unread: Unread | None = None

    def __contains__(self, other: _Cut) -> bool:
        return self.start <= other.start and other.end <= self.end


class HostCode:
    """The text of a file, in which each byte is one character. Lines stay where they are."""

    def __init__(self, text: str, unread: tuple[Unread, ...] = ()) -> None:
        self.text, self.unread = text, unread
        found = [_Token(str(m.lastgroup), m[0], m.start()) for m in _TOKEN.finditer(text)]
        self._directives = [token for token in found if token.kind == "directive"]
        self._tokens = [token for token in found if token.kind not in {"directive", "space"}]

    def without(self, places: Iterable[tuple[int, int]]) -> HostCode | None:
        """The text without what stands at these lines and columns; None where that is no code of the host alone."""
        cuts = set()
        for line, column in places:
            cut = self._cut(self._at(line, column)) if line <= len(self._lines) else None
            if cut is None or not _closed(each.text for each in self._directives if cut.start <= each.start < cut.end):
                return None
            cuts.add(cut)
        text = self.text
        outer = [cut for cut in cuts if not any(cut != other and cut in other for other in cuts)]
        for cut in sorted(outer, key=lambda cut: cut.start, reverse=True):
            text = text[: cut.start] + cut.call + re.sub(r"[^\n]", "", text[cut.start : cut.end]) + text[cut.end :]
        return HostCode(text, self.unread + tuple(cut.unread for cut in outer if cut.unread))

    def body(self, line: int, column: int = 1) -> Body | None:
        """The function that this place is in, its head or its body, the outermost of them; None where there is none."""
        if line > len(self._lines):
            return None
        at = self._at(line, column)
        brace = self._outermost(at)
        brace = brace if brace >= 0 else self._opened_behind(at)
        if brace < 0:
            return None
        head = self._head(brace)
        first, last = (head or [self._tokens[brace]])[0].start, self._tokens[self._closing(brace)].end
        lines = range(bisect_right(self._lines, first), bisect_right(self._lines, last) + 1)
        return Body(lines, bool({token.text for token in head} & _DEVICE))

    @property
    def first_directives(self) -> list[str]:
        """Those before anything else, without the comments behind them."""
        end = self._tokens[0].start if self._tokens else len(self.text)
        return [re.sub(r"\s*//[^\n]*", "", each.text) for each in self._directives if each.start < end]

    @property
    def asks_for(self) -> set[str]:
        """What conditions of the preprocessor ask for, that the file does not define itself."""
        words = [_NAME.findall(_ASIDE.sub(" ", token.text)) for token in self._directives]
        asked = {word for each in words if each and each[0] in {"if", "ifdef", "ifndef", "elif"} for word in each[1:]}
        known = {each[1] for each in words if len(each) > 1 and each[0] == "define"} | {"defined"}
        return {word for word in asked - known - _OF_CUDA if not word.startswith("_")}

    def could_learn_from(self, header: str) -> set[str]:
        """What the file asks for and a header of that name could define."""
        names = (header.lower(), PurePosixPath(header).name.lower())
        known = next((macros for begin, macros in _PREFIXES.items() if any(n.startswith(begin) for n in names)), "")
        return {word for word in self.asks_for if word.startswith(known)}

    @property
    def templates(self) -> dict[str, int]:
        """The lines of the file's templates of kernels, by names with all parameters: ns::axpy<T, N>."""
        found: dict[str, int] = {}
        for brace in (i for i, token in enumerate(self._tokens) if token.text == "{"):
            head = [token.text for token in self._head(brace)]
            name = self._name(brace) if head[:2] == ["template", "<"] and "__global__" in head else ""
            if name:
                parameters = ", ".join(_parameters(head[2 : head.index("__global__")]))
                line = bisect_right(self._lines, self._head(brace)[0].start)
                found.setdefault("::".join([*self._namespaces(brace), f"{name}<{parameters}>"]), line)
        return found

    def _namespaces(self, brace: int) -> list[str]:
        names: list[str] = []
        while (brace := self._nesting[0][brace]) >= 0:
            words = [token.text for token in self._head(brace) if token.kind == "name"]
            if "namespace" in words:
                names = words[words.index("namespace") + 1 :] + names
        return names

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(i + 1 for i, sign in enumerate(self.text) if sign == "\n")]

    @cached_property
    def _nesting(self) -> tuple[list[int], list[int], dict[int, int]]:
        """For each token the brace around it (-1: none) and how many parentheses are open in that; what braces open."""
        around, depths, openings = [], [], {}
        open_: list[tuple[int, int]] = [(-1, 0)]
        for i, token in enumerate(self._tokens):
            if token.text == "}" and len(open_) > 1:
                openings[i] = open_.pop()[0]
            brace, depth = open_[-1]
            if token.text in {")", "]"}:
                open_[-1] = (brace, depth := max(depth - 1, 0))
            around.append(brace)
            depths.append(depth)
            if token.text in {"(", "["}:
                open_[-1] = (brace, depth + 1)
            if token.text == "{":
                open_.append((i, 0))
        return around, depths, openings

    def _at(self, line: int, column: int) -> int:
        """The token at that place, or the last one before it."""
        offset = self._lines[line - 1] + column - 1
        return bisect_right(self._tokens, offset, key=lambda token: token.start) - 1

    def _outermost(self, at: int) -> int:
        """The brace that begins the body of the outermost function around a token; -1: there is none."""
        around, found = self._nesting[0], -1
        brace = around[at] if at >= 0 else -1
        while brace >= 0:
            found = brace if self._is_block(brace) else found
            brace = around[brace]
        return found

    def _opened_behind(self, at: int) -> int:
        """The brace that begins a function's body, where the token is in its head; -1 where it is not."""
        if at < 0:
            return -1
        around = self._nesting[0]
        for i in range(at, len(self._tokens)):
            if around[i] != around[at] or self._tokens[i].text == ";":
                return -1
            if self._tokens[i].text == "{":
                return i if self._is_block(i) and self._name(i) else -1
        return -1

    def _closing(self, brace: int) -> int:
        """The brace that ends what this one begins; the last token where none does."""
        return next((end for end, opening in self._nesting[2].items() if opening == brace), len(self._tokens) - 1)

    def _cut(self, at: int) -> _Cut | None:
        """What to leave out because of an error at that token."""
        around = self._nesting[0]
        outermost = self._outermost(at)
        if outermost >= 0 and {token.text for token in self._head(outermost)} & _DEVICE:
            return self._body(outermost)
        brace = around[at] if at >= 0 else -1
        while brace >= 0 and not self._is_block(brace) and not self._is_transparent(brace):
            at, brace = brace, around[brace]
        first, last = self._statement(at)
        start, end = self._tokens[first].start, self._tokens[last].end
        if brace < 0 or self._is_transparent(brace):
            words = {token.text for token in self._tokens[first : last + 1]}
            return None if words & _DEVICE or self._tokens[first].text == "template" else _Cut(start, end, "")
        return self._body(brace) if self._tokens[first].text == HOST else _Cut(start, end, f"{HOST}();")

    def _body(self, brace: int) -> _Cut | None:
        """The whole body of the function that the block is in; its declaration stays."""
        around = self._nesting[0]
        while (outer := around[brace]) >= 0 and not self._is_transparent(outer) and not self._holds_declarations(outer):
            brace = outer
        if not self._is_block(brace):
            return None
        start, end = self._tokens[brace].start, self._tokens[self._closing(brace)].end
        head = [token.text for token in self._head(brace)]
        lines = range(bisect_right(self._lines, start), bisect_right(self._lines, end) + 1)
        name = self._name(brace)
        unread = Unread(name, lines, "__global__" in head) if set(head) & _DEVICE else None
        return _Cut(start, end, ";", unread) if name else None

    def _name(self, brace: int) -> str:
        """Of the function whose body begins with the brace: what stands before its parameters."""
        depth, i = 0, brace - 1
        while i > 0 and (depth or self._tokens[i].text != "("):
            depth += {")": 1, "(": -1}.get(self._tokens[i].text, 0)
            i -= 1
            if depth == 1 and self._tokens[i].text == "(":
                break
        return self._tokens[i - 1].text if i > 0 and self._tokens[i - 1].kind == "name" else ""

    def _head(self, brace: int) -> Sequence[_Token]:
        """What stands before a brace, back to the end of the statement or declaration before it."""
        first = brace
        while first > 0 and self._tokens[first - 1].text not in {";", "{", "}"}:
            first -= 1
        return self._tokens[first:brace]

    def _is_transparent(self, brace: int) -> bool:
        words = [token.text for token in self._head(brace)]
        return "namespace" in words[:2] or (words[:1] == ["extern"] and "(" not in words)

    def _holds_declarations(self, brace: int) -> bool:
        words = {token.text for token in self._head(brace)}
        return bool(words & _TYPES) and "(" not in words

    def _is_block(self, brace: int) -> bool:
        """A block of statements, and not a list of values or of members."""
        if self._is_transparent(brace) or self._holds_declarations(brace):
            return False
        before = self._tokens[brace - 1].text if brace else ";"
        return before in _BEFORE_BLOCK or (before == "{" and self._is_block(brace - 1))

    def _statement(self, at: int) -> tuple[int, int]:
        """The first and the last token of the statement or declaration around a token."""
        brace, tokens = self._nesting[0][at], self._tokens
        first = at
        while first > 0 and first - 1 != brace and not self._ends(first - 1, brace):
            first -= 1
        last = at
        while last + 1 < len(tokens):
            following = tokens[last + 1].text
            goes_on = following in {"else", "catch"} or (tokens[first].text == "do" and following == "while")
            if self._ends(last, brace) and not goes_on:
                break
            last += 1
        return first, last

    def _ends(self, at: int, brace: int) -> bool:
        """Whether a statement directly between these braces ends with the token."""
        around, depths, openings = self._nesting
        if around[at] != brace or depths[at]:
            return False
        opening = openings.get(at, -1)
        closes = opening >= 0 and (self._is_block(opening) or self._is_transparent(opening))
        following = self._tokens[at + 1].text if at + 1 < len(self._tokens) else ""
        return self._tokens[at].text == ";" or (closes and following not in _BEHIND_LAMBDA)


def _parameters(words: Sequence[str]) -> list[str]:
    """A template's parameters, from what stands behind its first angle bracket: types by name, values with their type.

    What a parameter is without an argument is not said.
    """
    parts: list[list[str]] = [[]]
    default, depth = False, 0
    for word in words:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(word, 0)
        if depth < 0:
            break
        if depth == 0 and word == ",":
            parts, default = [*parts, []], False
            continue
        default = default or word == "="
        if depth == 0 and not default and word not in {">", ")"}:
            parts[-1].append(word)
    return [_parameter(part) for part in parts]


def _parameter(words: Sequence[str]) -> str:
    names = [word for word in words if word.isidentifier()]
    is_type = bool({"class", "typename"} & set(words)) or len(names) < 2  # noqa: PLR2004 - a type and a name
    return names[-1] if is_type and names else re.sub(r" ?:: ?", "::", " ".join(words).replace(": :", "::"))


def _closed(directives: Iterable[str]) -> bool:
    """Whether the directives have no effect on what comes behind them: conditions that end among them."""
    depth = 0
    for text in directives:
        word = re.match(r"\s*#\s*(\w*)", text)[1]  # type: ignore[index]
        depth += word.startswith("if") - (word == "endif")
        if depth < (0 if word == "endif" else 1) and word not in {"pragma", "error", "warning"}:
            return False
        if word in {"define", "undef", "include"}:
            return False
    return depth == 0


def may_be_empty(name: str) -> bool:
    """Whether a header of that name can stand for a missing one: it lies in some folder of headers."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
