"""What the front is given: any bytes as source, any words as arguments, any JSON as manifest."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

KERNEL = b"""\
struct Pair { float a, b; };
__constant__ float scale;
template <class T> __device__ T squared(T v) { return v * v; }
__global__ void f(const float *x, Pair *y, int n)
{
    __shared__ float tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 3 && i < n; ++k)
        y[i].a += squared(tile[(threadIdx.x + k) % 32]) * sinf(y[i].b) * scale;
}
"""
"""What sources are made of by leaving out, doubling and exchanging words."""

WORDS = (
    *(
        "compile",
        "check",
        "inspect",
        "cache",
        "-k",
        "-t",
        "-o",
        "--arch",
        "--arg",
        "--grid",
        "--block",
        "--activity",
        "--flag",
    ),
    *(
        "--mode",
        "--inactive",
        "--derivative",
        "--seed",
        "--tolerance",
        "--json",
        "--emit",
        "--no-cache",
        "--disable",
        "--help",
    ),
    *(
        "openmp",
        "cuda",
        "forward",
        "second",
        "sm_90",
        "f",
        "f=active",
        "x=1",
        "x=random:3",
        "x=zeros:-1",
        "--",
        "-",
        "=",
    ),
    *(
        "empty.cu",
        "empty.cpp",
        "absent.cu",
        ".",
        "folder.adgen",
        "-1",
        "0",
        "1,2,3,4",
        "nan",
        "\N{GREEK SMALL LETTER MU}.cu",
    ),
)
"""Commands that install or delete something are not among them, and nobody draws their names by chance."""


def sources() -> st.SearchStrategy[bytes]:
    tokens = KERNEL.split(b" ")
    shuffled = st.lists(st.sampled_from(tokens), max_size=60).map(b" ".join)
    return st.one_of(st.binary(max_size=300), _with_changes(KERNEL), shuffled)


@st.composite
def _with_changes(draw: st.DrawFn, text: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(st.one_of(st.just(b""), st.just(text[start:end] * 2), st.binary(max_size=8)))
        text = text[:start] + piece + text[end:]
    return text


def command_lines() -> st.SearchStrategy[list[str]]:
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
    return st.lists(st.one_of(st.sampled_from(WORDS), text, st.text(string.printable, max_size=6)), max_size=8)


def documents() -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    )


@st.composite
def changed(draw: st.DrawFn, document: Any) -> Any:  # noqa: ANN401
    """The document with something in it replaced by anything, or taken out."""
    if not isinstance(document, (dict, list)) or not document or draw(st.integers(0, 4)) == 0:
        return draw(documents())
    if isinstance(document, dict):
        key = draw(st.sampled_from(sorted(document)))
        if draw(st.integers(0, 5)) == 0:
            return {name: value for name, value in document.items() if name != key}
        return {**document, key: draw(changed(document[key]))}
    index = draw(st.integers(0, len(document) - 1))
    return [*document[:index], draw(changed(document[index])), *document[index + 1 :]]
