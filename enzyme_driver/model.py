"""The words that every stage shares: data types, parameters, signatures. Plain frozen values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from enzyme_driver.lent import LentTable, lent_bytes

Target = Literal["cuda", "openmp"]
TARGETS: tuple[Target, ...] = ("openmp", "cuda")

Language = Literal["cuda", "c++"]

Mode = Literal["reverse", "forward", "second", "batched"]
MODES: tuple[Mode, ...] = ("reverse", "forward", "second", "batched")
"""How an entry is differentiated: cotangents are carried back, tangents forward, or tangents through the gradient.
`batched` has what carries them done for many launches at once, too, on GPUs."""

Form = Literal["pointer", "scalar", "struct", "variable"]

Activity = Literal["duplicated", "owned", "fresh", "discarded", "active", "const"]
"""`duplicated`: memory with a shadow; `owned`: the same, each element of it accumulated into by one thread alone;
`fresh`: the same, holding zeros before a gradient; `discarded`: the same for an output that nobody needs after a
gradient, nor its shadow; `active`: a value whose cotangent is added to a one-element shadow; `const`: no derivative is
taken with respect to it."""

RESULT = "return"
"""What is returned, among results that have names; a struct also among parameters, as it is written through an address.
"""

ScalarKind = Literal["float", "int", "uint", "bool", "pointer", "struct", "opaque"]


_VECTOR_BYTES = 24
"""Of its begin, its end, and the end of its memory; that of bool holds more."""


_ALIASES = re.compile(r"\b(?:at|torch)::(?=(?:Half|BFloat16|complex)\b)")
"""Namespaces through which PyTorch's numbers, which are of c10, are called as well."""


def plain_name(name: str) -> str:
    """Spelling without what does not change the meaning: spaces, a leading ::, the suffix of unsigned constants, and
    other names of PyTorch's numbers.
    """
    return _ALIASES.sub("c10::", re.sub(r"\s+|(?<=\d)[uUlL]+(?=[,>])", "", name)).removeprefix("::")


_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")


def owner(name: str) -> str:
    """The parameter that a name such as `grid.cells` or `rows[3]` belongs to; a variable's own name."""
    return name if name.startswith("::") else re.split(r"[.[]", name, maxsplit=1)[0]


def is_inside(name: str, wholes: Iterable[str]) -> bool:
    """Whether a name such as `grid.cells` is one of these, or of something in one of them."""
    return any(name == each or name.startswith((f"{each}.", f"{each}[")) for each in wholes)


def bare_name(name: str) -> str:
    """The name without namespaces and arguments of a template, also where a result and parameters stand beside it."""
    while (shorter := _TEMPLATE_ARGUMENTS.sub("", name)) != name:
        name = shorter
    words = name.partition("(")[0].rpartition("::")[2].split()
    return words[-1] if words else ""


@dataclass(frozen=True)
class StructField:
    """A member of a struct; `offset` in bytes, `count` > 1 for an array member."""

    name: str
    offset: int
    type: DataType
    count: int = 1


@dataclass(frozen=True)
class DataType:
    """The type of a value or of an array's element; `size` in bytes.

    `name` is NumPy's name for floats, integers and bool (`float32`, `int64`, ...), the C++ name otherwise.
    For a pointer inside a struct, `const` says that it points to const.
    """

    name: str
    kind: ScalarKind
    size: int
    fields: tuple[StructField, ...] = ()
    pointee: DataType | None = None
    const: bool = False

    def __str__(self) -> str:
        return self.name

    def leaves(self) -> Iterator[DataType]:
        """The scalar types that this type is made of (pointers are not followed)."""
        if self.kind != "struct":
            yield self
        for member in self.fields:
            yield from member.type.leaves()

    @property
    def writable(self) -> DataType:
        """The type with nothing const in it."""
        fields = tuple(replace(member, type=member.type.writable) for member in self.fields)
        return replace(self, fields=fields, const=False)

    @property
    def has_floats(self) -> bool:
        return any(leaf.kind == "float" for leaf in self.leaves())

    @property
    def leads_to_floats(self) -> bool:
        """Whether it is a pointer to floating point, or to pointers to such."""
        behind = self.pointee
        return bool(behind and (behind.has_floats or (behind.pointee and behind.pointee.has_floats)))

    @property
    def has_pointers(self) -> bool:
        return any(leaf.kind == "pointer" for leaf in self.leaves())

    @property
    def elements(self) -> DataType | None:
        """What a std::vector of values holds; None for any other type."""
        begin = next(self.leaves(), None)
        usual = self.name.startswith("vector<") and "std::allocator<" in self.name and self.size == _VECTOR_BYTES
        held = begin.pointee if usual and begin and begin.kind == "pointer" else None
        known = held and not held.has_pointers and all(leaf.kind != "opaque" for leaf in held.leaves())
        return held if known and held and held.size else None

    @property
    def has_vectors(self) -> bool:
        """Whether it is such a std::vector, or a struct that holds some."""
        return bool(self.elements) or any(member.type.has_vectors for member in self.fields)


def _holds_table(dtype: DataType) -> bool:
    """Whether a struct has a member, be it in a struct inside, that points to pointers."""
    return any(
        _holds_table(member.type) or bool(member.type.pointee and member.type.pointee.kind == "pointer")
        for member in dtype.fields
    )


@dataclass(frozen=True)
class Place:
    """A line of the source."""

    file: str
    line: int


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel or a function.

    For a pointer `dtype` is the type of the element it points to and `const` says that it points to const.
    `reference` marks a C++ reference, which is passed like a pointer to one element. `by_address` marks a struct that
    the function takes the address of: it is given like a struct by value, and `writes` then speaks of its own members.
    `reads` and `writes` say whether the primal may load from or store to what the pointer points to. `added_to` names
    the array whose elements are sums with the same element of this one, of which nothing else is made: where it is
    not empty, an element's cotangent is that of the sum. `nullable` says that the primal asks whether the pointer is
    null, `moves_pointers` that it may store pointers to memory that this one leads to, `beyond` that it accesses
    structs behind the one that this one points to, `chosen` that of the values that threads bring to an element by
    atomics one remains; `chosen_members` are the offsets of a struct's members of which that is so. `unordered` is
    where the primal stores to it in the order in which threads arrive, so that two launches leave different numbers in
    an element; `queued` is the same of integers. `orders` names the parameters whose elements have another order where
    this one's have.
    `const_members` are the members of a struct, as in C++ behind its name (`.grid.cells`), that lead to arrays without
    a derivative. `resized` marks a vector of which the function changes the size, or takes the memory away: it gets one
    of its own, whose elements are copied.
    """

    name: str
    form: Form
    dtype: DataType
    const: bool
    activity: Activity
    restrict: bool = False
    reference: bool = False
    reads: bool = True
    writes: bool = True
    by_address: bool = False
    added_to: str = ""
    nullable: bool = False
    moves_pointers: bool = False
    beyond: bool = False
    chosen: bool = False
    chosen_members: tuple[int, ...] = ()
    unordered: Place | None = None
    queued: Place | None = None
    orders: tuple[str, ...] = ()
    const_members: tuple[str, ...] = ()
    resized: bool = False

    def __str__(self) -> str:
        """As people write it: `const float32 *spot`."""
        const = "const " if self.const and (self.is_pointer or self.by_address) else ""
        mark = "&" if self.reference else "*" if self.is_pointer or self.by_address else ""
        if self.is_table:
            return f"{'const ' if self.dtype.const else ''}{self.dtype.pointee} *{const}{mark}{self.name}"
        return f"{const}{self.dtype} {mark}{self.name}"

    @property
    def may_be_null(self) -> bool:
        """Whether a null pointer does no harm: nothing follows it, or the primal asks before, or it has no shadow."""
        follows = self.reads or self.writes
        return not self.reference and (self.activity == "const" or self.nullable or not follows)

    @property
    def is_pointer(self) -> bool:
        return self.form == "pointer"

    @property
    def is_result(self) -> bool:
        """Whether it stands for the struct that a function returns: nobody gives it."""
        return self.name == RESULT

    @property
    def is_table(self) -> bool:
        """Whether it points to pointers to values, each to an array: a row of the table."""
        row = self.dtype.pointee
        return self.is_pointer and row is not None and row.kind != "opaque" and not row.has_pointers

    @property
    def holds_table(self) -> bool:
        """Whether it points to pointers, or is a struct with a member that does."""
        return self.is_table or _holds_table(self.dtype)

    @property
    def loses_members(self) -> bool:
        """Whether the primal changes members of a struct itself, of which Python would see nothing."""
        return self.by_address and self.writes and not self.const and not self.is_result

    @property
    def loses_rows(self) -> bool:
        """Whether the primal stores pointers in a table, of which Python would see nothing."""
        return self.moves_pointers and self.holds_table

    @property
    def can_be_resized(self) -> bool:
        """Whether it is a std::vector that the function may change, or by value a struct with such vectors."""
        if self.form != "struct" or self.is_result:
            return False
        if self.by_address:
            return not self.const and bool(self.dtype.elements)
        return self.dtype.has_vectors

    @property
    def is_scalar(self) -> bool:
        return self.form == "scalar"

    @property
    def has_shadow(self) -> bool:
        return self.activity != "const"

    @property
    def forward(self) -> Parameter:
        """The parameter in forward mode, in which every number of floating point may have a tangent."""
        return replace(self, activity="active") if self.is_scalar and self.dtype.kind == "float" else self

    @property
    def shadow(self) -> Parameter:
        """The shadow as a parameter of the gradient, under a name that no parameter can have."""
        form: Form = "pointer" if self.shadow_is_pointer else "struct"
        return Parameter(
            f"shadow of {self.name}",
            form,
            self.dtype.writable,
            const=False,
            activity="duplicated",
            const_members=self.const_members,
        )

    def has_const(self, member: str) -> bool:
        """Whether a member (`.grid.cells`), or one that it is part of, is among those without a derivative."""
        return is_inside(member, self.const_members)

    @property
    def shadow_is_pointer(self) -> bool:
        """Whether the gradient takes the shadow as an array (else as a struct by value)."""
        return self.form != "struct" or self.activity == "active"


@dataclass(frozen=True)
class Variable:
    """A `__constant__` or `__device__` variable, which Python can read and set; `shape` is () for a single value."""

    name: str
    symbol: str
    dtype: DataType
    shape: tuple[int, ...] = ()
    activity: Activity = "const"

    @property
    def has_shadow(self) -> bool:
        return self.activity != "const"

    @property
    def shadow_symbol(self) -> str:
        return f"adgen_shadow_{self.symbol}"


@dataclass(frozen=True)
class Signature:
    """The parameters of a kernel or function, in order; behaves as a sequence and by name.

    `variables` are those of the file that a kernel may use; one that is not const has a shadow like a parameter.
    `needs_shared_bytes` says that the source uses `extern __shared__` memory, so that a launch has to say how much.
    """

    name: str
    kind: Literal["kernel", "function"]
    symbol: str
    parameters: tuple[Parameter, ...]
    returns: DataType | None = None
    file: str = ""
    line: int = 0
    variables: tuple[Variable, ...] = ()
    needs_shared_bytes: bool = False

    def __str__(self) -> str:
        """On one line, as people write it: `price(const float32 *spot, int32 n) -> float32`."""
        kind = self.result.dtype if self.result else self.returns
        returns = f" -> {kind}" if kind else ""
        return f"{self.spelled}{returns}"

    @property
    def spelled(self) -> str:
        """The same without what it returns: `price(const float32 *spot, int32 n)`."""
        return f"{self.name}({', '.join(str(parameter) for parameter in self.parameters if not parameter.is_result)})"

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, key: int | str) -> Parameter:
        if isinstance(key, int):
            return self.parameters[key]
        for parameter in self.parameters:
            if parameter.name == key:
                return parameter
        raise KeyError(key)

    @cached_property
    def result(self) -> Parameter | None:
        """The struct that a function returns, the last of the parameters."""
        return next((parameter for parameter in self.parameters if parameter.is_result), None)

    def __contains__(self, name: object) -> bool:
        return any(parameter.name == name for parameter in self.parameters)

    @cached_property
    def gradient(self) -> Signature:
        """The gradient as a function of its own: the parameters, their shadows, and the cotangent of the result."""
        shadows = tuple(parameter.shadow for parameter in self.shadowed)
        kind = self.returns
        last = (Parameter("cotangent of the result", "scalar", kind, const=True, activity="const"),) if kind else ()
        return replace(self, parameters=(*self.parameters, *shadows, *last), returns=None, variables=())

    @cached_property
    def forward(self) -> Signature:
        """The signature in forward mode, whose shadows are tangents."""
        return replace(self, parameters=tuple(parameter.forward for parameter in self.parameters))

    @cached_property
    def chooses(self) -> bool:
        """Whether a derivative has to know beforehand what remains where threads choose by atomics."""
        return any(parameter.chosen or parameter.chosen_members for parameter in self.parameters)

    @cached_property
    def unordered(self) -> tuple[Parameter, ...]:
        """The parameters with a derivative in which two launches may leave their numbers in another order."""
        return tuple(parameter for parameter in self.shadowed if parameter.unordered)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def shadowed(self) -> tuple[Parameter, ...]:
        """The parameters that have a shadow, in order."""
        return tuple(parameter for parameter in self.parameters if parameter.has_shadow)


@dataclass(frozen=True)
class Refusal:
    """Why an entry has no gradient, or is not there at all, on a target."""

    reason: str
    hint: str = ""
    file: str = ""
    line: int = 0


TapeSizeFrom = Literal["scalars", "arrays", "run", "run in place"]
"""A launch's scalars, arrays too, or what the kernel itself writes: then measuring runs its forward sweep.

That writes to shared memory only, or in place to the caller's arrays as well.
"""


_SHARED_ALIGNMENT = 16
"""Of shadows of dynamic shared memory."""

_SHARED_LIMIT = 48 * 1024
"""Of a block, unless a launch asks for more."""


@dataclass(frozen=True)
class BlockVariant:
    """A kernel in GPU code, for blocks of up to so many threads."""

    threads: int
    kernel: str


@dataclass(frozen=True)
class TargetEntry:
    """What an entry is called in a target's binary; `refused` where it has no primal or no gradient.

    `static_shared_bytes` counts the gradient's shared memory, shadows included, of which `dynamic_shadow_bytes` are to
    be launched as dynamic. `dynamic_shared` says that the compiled gradient uses `extern __shared__` memory: twice the
    primal's, with shadows, of whose bytes it is told. `heap` says that the gradient calls the device's malloc, `tape`
    names the kernel that measures the tape of a gradient that has one, `tape_size_from` what decides about its size.
    `batch` names the kernel that does many launches of the gradient at once, or on the host the function that carries
    tangents along `directions` directions together. `cooperative` says that blocks wait for each other, of which all
    have to fit on the GPU at once; where the primal's do not, `primal_waits` is false.
    `lent` are the shadows for which a launch may lend the gradient memory (on a GPU of NVIDIA), which then is another
    kernel.
    `kept_shadows` are the parameters whose shadows are known to be the same after a gradient (on a GPU).
    """

    primal: str | None
    gradient: str | None
    static_shared_bytes: int = 0
    dynamic_shadow_bytes: int = 0
    dynamic_shared: bool = False
    heap: bool = False
    tape: str | None = None
    tape_size_from: TapeSizeFrom | None = None
    lent: tuple[LentTable, ...] = ()
    kept_shadows: tuple[str, ...] = ()
    batch: str | None = None
    directions: int = 1
    cooperative: bool = False
    primal_waits: bool = True
    primal_refused: Refusal | None = None
    gradient_refused: Refusal | None = None

    def waits(self, *, derivative: bool) -> bool:
        """Whether blocks wait for each other in a launch on a GPU."""
        return self.cooperative and (derivative or self.primal_waits)

    def dynamic_bytes(self, primal: int, *, derivative: bool) -> int:
        """The dynamic shared memory of a launch on a GPU whose primal has so much."""
        if not derivative:
            return primal
        own = 2 * (-(-primal // _SHARED_ALIGNMENT) * _SHARED_ALIGNMENT) if self.dynamic_shared else primal
        return own + self.dynamic_shadow_bytes

    def kernel(self, *, derivative: bool, lent: int) -> str:
        """What a launch on a GPU runs that lends it so many bytes for tables."""
        return f"{self.gradient}_lent" if lent else str(self.gradient if derivative else self.primal)

    def lent_bytes(self, shadows: Sequence[int], grid: Sequence[int]) -> int:
        """The dynamic shared memory of a gradient's launch for tables, whose shadows are of so many bytes.

        None where a block has too little left, or all blocks must fit on the GPU.
        """
        count = lent_bytes(self.lent, shadows, grid)
        return count if not self.cooperative and self.static_shared_bytes + count <= _SHARED_LIMIT else 0


@dataclass(frozen=True)
class Entry:
    """A kernel or a function of an artifact, with its symbols on each target that was built.

    `forward` is like `targets`, with what carries tangents as the gradient, and `second` with what carries tangents
    through the gradient; empty where these modes were not asked for.
    """

    signature: Signature
    targets: dict[Target, TargetEntry] = field(default_factory=dict)
    forward: dict[Target, TargetEntry] = field(default_factory=dict)
    second: dict[Target, TargetEntry] = field(default_factory=dict)
