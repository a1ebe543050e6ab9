"""What is left out of a file that clang does not read, and what never is."""

from __future__ import annotations

import pytest

from enzyme_driver.stages.host_code import HOST, HostCode, may_be_empty


def place(text: str, word: str, which: int = 0) -> tuple[int, int]:
    """Line and column of a word, as clang says them."""
    at = -1
    for _ in range(which + 1):
        at = text.index(word, at + 1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def without(text: str, word: str, which: int = 0) -> str | None:
    left = HostCode(text).without([place(text, word, which)])
    return left.text if left else None


@pytest.mark.parametrize(
    ("body", "word", "left"),
    [
        ("int a = 1; bad(a); use(a);", "bad", f"int a = 1; {HOST}(); use(a);"),
        ("if (bad()) { x(); } else { y(); } z();", "bad", f"{HOST}(); z();"),
        ("if (a) { bad(); } else { y(); }", "bad", f"if (a) {{ {HOST}(); }} else {{ y(); }}"),
        ("for (int i = 0; i < bad; ++i) { x(); } z();", "bad", f"{HOST}(); z();"),
        ("do { bad(); } while (x()); z();", "bad", f"do {{ {HOST}(); }} while (x()); z();"),
        ("T v = {1, bad, 3}; z();", "bad", f"{HOST}(); z();"),
        ("auto f = [&](int i) { return i; }; z();", "auto", f"{HOST}(); z();"),
        ("auto f = [&](int i) { return bad(i); }; z();", "bad", f"auto f = [&](int i) {{ {HOST}(); }}; z();"),
        ('puts("} // ;"); /* { */ bad(); z();', "bad", f'puts("}} // ;"); /* {{ */ {HOST}(); z();'),
    ],
    ids=["statement", "if", "inside", "for", "do", "list", "lambda", "inside-lambda", "comments"],
)
def test_a_statement_of_a_function(body: str, word: str, left: str) -> None:
    assert without(f"int main() {{ {body} }}", word) == f"int main() {{ {left} }}"


def test_lines_stay_where_they_are() -> None:
    text = "void f()\n{\n  bad(1,\n      2);\n  good();\n}\n"
    assert without(text, "bad") == f"void f()\n{{\n  {HOST}();\n\n  good();\n}}\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("using bad;\nint good;", "\nint good;"),
        ("struct A { bad x; };\nstruct B { int x; };", "\nstruct B { int x; };"),
        ('extern "C" { int a; bad b; int c; }', 'extern "C" { int a;  int c; }'),
        ("namespace n { bad f(int a) { return a; } }", "namespace n {  }"),
        ("struct A { void f() { bad(); } int x; };", f"struct A {{ void f() {{ {HOST}(); }} int x; }};"),
    ],
    ids=["using", "struct", "extern-c", "namespace", "method"],
)
def test_a_declaration(text: str, left: str) -> None:
    assert without(text, "bad") == left


@pytest.mark.parametrize(
    ("text", "lines", "device"),
    [
        ("int a;\nvoid f() {\n  bad();\n}\n", range(2, 5), False),
        ("int a;\nbad f(int b)\n{\n}\n", range(2, 5), False),
        ("template <class T>\n__global__ void f(T x) { bad(); }", range(1, 3), True),
        ("struct A {\n  __device__ float f() const { return bad; } };", range(2, 3), True),
        ("void f() {\n  struct A { __device__ float f() { return bad; } };\n}", range(1, 4), False),
        ("namespace n {\nauto g = []() { bad(); };\n}", range(2, 3), False),
        ("struct A { bad x; };", None, False),
        ("bad f(int x);\nvoid g() {}", None, False),
        ("int a[] = {1, bad};", None, False),
    ],
)
def test_the_function_that_a_place_is_in(text: str, lines: range | None, device: bool) -> None:
    body = HostCode(text).body(*place(text, "bad"))
    assert (body.lines, body.device) == (lines, device) if body else lines is None


@pytest.mark.parametrize(
    "text",
    [
        "__constant__ bad table[3];",
        "__device__ bad f(float x) { return x; }",
        "template <class T> bad f(T x) { return x; }",
        "struct A { __device__ float f(bad x) { return 1; } };",
        "void f() { x(bad,\n#ifdef A\n 1);\n#endif\n }",
        "void f() { x(bad,\n#define A\n 1);\n }",
        "void f() {\n#if A\n x(1,\n#else\n x(bad,\n#endif\n 1); }",
    ],
    ids=["variable", "function", "template", "struct", "directive", "definition", "branch"],
)
def test_device_code_is_not_left_out(text: str) -> None:
    assert without(text, "bad") is None


def test_conditions_of_the_preprocessor_go_with_the_body_that_they_are_in() -> None:
    text = f"__device__ int f()\n{{\n#if A\n  {HOST}();\n#elif B\n  return 1;\n#endif\n}}\nint a;"
    left = HostCode(text).without([place(text, HOST)])
    assert left is not None
    assert left.text == "__device__ int f()\n;\n\n\n\n\n\n\nint a;"


def test_what_clang_does_not_take_as_host_code_loses_its_body() -> None:
    text = f"__global__ void __launch_bounds__(8) k(float *x)\n{{\n  if (x) {{\n    {HOST}();\n  }}\n}}\nint a;"
    left = HostCode(text).without([place(text, HOST)])
    assert left is not None
    assert left.text == "__global__ void __launch_bounds__(8) k(float *x)\n;\n\n\n\n\nint a;"
    assert [(kernel.name, kernel.lines) for kernel in left.unread] == [("k", range(2, 7))]


def test_templates_of_kernels() -> None:
    text = """namespace a::b { namespace {
template <class T = float, int N = 3, template <class> class F, typename... R, bool = (3 > 2)>
__global__ void __launch_bounds__(N) f(const T *x = nullptr) { if (x) { } }
} }
extern "C" { template <typename T> T g(T x) { return x; } }
template <int N> __global__ void h(float *x) { x[N] = 1; }
template <> __global__ void h<3>(float *x) { }
__global__ void k(float *x) { }
"""
    assert HostCode(text).templates == {"a::b::f<T, int N, F, R, bool>": 2, "h<int N>": 6}


def test_what_the_preprocessor_is_asked_for() -> None:
    text = (
        "#define MINE 1\n#if defined(MINE) && THEIRS > 2 && CUDART_VERSION > 9000\n#endif\n"
        "#ifdef __CUDA_ARCH__\n#endif\n#ifndef OTHER // or not\n#endif\n"
        "#if _POSIX_VERSION >= 200112L || __has_include(<folder/x.h>) /* where */\n#endif\n"
    )
    assert HostCode(text).asks_for == {"THEIRS", "OTHER"}


@pytest.mark.parametrize(
    ("header", "learns"),
    [
        ("common.h", {"USE_HALF", "CUBLAS_V2"}),
        ("cublasLt.h", {"CUBLAS_V2"}),
        ("nvtx3/nvToolsExt.h", set()),
        ("cuda_profiler_api.h", set()),
        ("opencv2/core.hpp", set()),
        ("cblas.h", set()),
        ("omp.h", set()),
    ],
)
def test_what_a_header_could_define(header: str, learns: set[str]) -> None:
    assert HostCode("#ifdef USE_HALF\n#elif CUBLAS_V2\n#endif\n").could_learn_from(header) == learns


@pytest.mark.parametrize(("name", "may"), [("mpi.h", True), ("a/b.hpp", True), ("../x.h", False), ("/x.h", False)])
def test_what_may_be_empty(name: str, may: bool) -> None:
    assert may_be_empty(name) is may
