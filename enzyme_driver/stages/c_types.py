"""C99's spelling of the data types of a signature, for the header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from enzyme_driver.model import DataType, StructField

SCALARS = {
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "float128": "long double",
    "longdouble": "long double",
    "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""C has no 16-bit floats before C23, so their bits travel as `uint16_t`."""

_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    bool true false asm typeof and and_eq bitand bitor catch class compl concept const_cast constexpr decltype delete
    dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid
    typename using virtual wchar_t xor xor_eq NULL size_t"""


@dataclass(frozen=True)
class CStruct:
    """A C definition with the layout of the user's struct; `size` in bytes is asserted by the header."""

    name: str
    original: str
    members: tuple[str, ...]
    size: int


class CTypes:
    """The types of one header; collects the definitions of the structs that were asked for, in order of need."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._structs: dict[DataType, CStruct] = {}

    @property
    def structs(self) -> list[CStruct]:
        return list(self._structs.values())

    def expressible(self, dtype: DataType) -> bool:
        """Whether C can hold a value of this type with the same layout."""
        if dtype.kind == "struct":
            return bool(dtype.fields) and _laid_out_as_in_c(dtype) and all(self._member_fits(f) for f in dtype.fields)
        return dtype.kind == "pointer" or dtype.name in SCALARS

    def value(self, dtype: DataType) -> str:
        """The type of an expressible value."""
        if dtype.kind == "struct":
            return self._struct(dtype).name
        return self.pointer_to(dtype.pointee) if dtype.kind == "pointer" else SCALARS[dtype.name]

    def pointer_to(self, pointee: DataType | None) -> str:
        """A pointer; `void *` where C has no name for what it points to."""
        if pointee is not None and pointee.kind != "pointer" and self.expressible(pointee):
            return f"{self.value(pointee)} *"
        return "void *"

    def pointer(self, pointee: DataType, name: str, *, const: bool = False) -> str:
        """The declaration of a pointer variable."""
        return f"{'const ' if const else ''}{self.pointer_to(pointee)}{name}"

    def _member_fits(self, member: StructField) -> bool:
        return bool(member.name) and self.expressible(member.type)

    def _struct(self, dtype: DataType) -> CStruct:
        if dtype not in self._structs:
            members = tuple(self._member(member, name) for member, name in _named(dtype.fields))
            taken = (struct.name for struct in self._structs.values())
            (name,) = unique([c_identifier(f"{self._prefix}_{dtype.name}")], taken=taken)
            self._structs[dtype] = CStruct(name, comment_text(dtype.name), members, dtype.size)
        return self._structs[dtype]

    def _member(self, member: StructField, name: str) -> str:
        spelled = _shallow(member.type) if member.type.kind == "pointer" else self.value(member.type)
        gap = "" if spelled.endswith("*") else " "
        return f"{spelled}{gap}{name}" + (f"[{member.count}]" if member.count > 1 else "")


def _shallow(pointer: DataType) -> str:
    """A pointer inside a struct: structs may point to themselves, so only scalars are named."""
    pointee = pointer.pointee
    return f"{SCALARS[pointee.name]} *" if pointee is not None and pointee.name in SCALARS else "void *"


def _named(fields: tuple[StructField, ...]) -> Iterator[tuple[StructField, str]]:
    return zip(fields, unique(c_identifier(member.name) for member in fields), strict=True)


def _laid_out_as_in_c(dtype: DataType) -> bool:
    """Whether C's natural alignment puts every member where the user's compiler put it."""
    end = 0
    for member in dtype.fields:
        start = _aligned(end, _alignment(member.type))
        if start != member.offset:
            return False
        end = start + member.type.size * member.count
    return _aligned(end, _alignment(dtype)) == dtype.size


def _alignment(dtype: DataType) -> int:
    if dtype.kind == "struct":
        return max((_alignment(member.type) for member in dtype.fields), default=1)
    return max(dtype.size, 1)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def c_identifier(name: str) -> str:
    """A C identifier that reads like the C++ name: `ns::axpy<float, 4>` is `ns_axpy_float_4`.

    >>> c_identifier("axpy<float *>")
    'axpy_float_p'
    """
    text = name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII):
        text = re.sub(r"\W+", "_", re.sub(r"\s*\*", "_p", name), flags=re.ASCII).strip("_") or "value"
        text = f"_{text}" if text[0].isdigit() else text
    return f"{text}_" if text in _KEYWORDS.split() else text


def unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names with a number behind those that are taken already."""
    seen = set(taken)
    chosen = []
    for name in names:
        free = name
        for number in range(2, len(seen) + 3):
            if free not in seen:
                break
            free = f"{name}_{number}"
        seen.add(free)
        chosen.append(free)
    return chosen


def comment_text(text: str) -> str:
    """Text that can stand in a C comment: on one line, without what would end it."""
    return re.sub(r"\s+", " ", text).replace("*/", "* /").replace("/*", "/ *")
