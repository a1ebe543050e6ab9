"""The header is C99 and C++, the Python module imports, and names survive both."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from enzyme_driver.model import DataType, Entry, Parameter, Place, Refusal, Signature, StructField, TargetEntry
from enzyme_driver.stages import render
from enzyme_driver.stages.c_types import CTypes, c_identifier, unique

F32 = DataType("float32", "float", 4)
F64 = DataType("float64", "float", 8)
I32 = DataType("int32", "int", 4)
POINTER = DataType("float *", "pointer", 8, pointee=F32)
PAIR = DataType("Pair<float>", "struct", 12, (StructField("x", 0, F32), StructField("v", 4, F32, count=2)))
VIEW = DataType("View", "struct", 16, (StructField("data", 0, POINTER), StructField("n", 8, I32)))
PACKED = DataType("Packed", "struct", 5, (StructField("a", 0, DataType("int8", "int", 1)), StructField("b", 1, I32)))


def pointer(name: str, dtype: DataType = F32, *, const: bool = False, activity: str = "duplicated") -> Parameter:
    return Parameter(name, "pointer", dtype, const, activity)  # type: ignore[arg-type]


def scalar(name: str, dtype: DataType = I32, activity: str = "const") -> Parameter:
    return Parameter(name, "scalar", dtype, const=True, activity=activity)  # type: ignore[arg-type]


def struct(name: str, dtype: DataType, activity: str) -> Parameter:
    return Parameter(name, "struct", dtype, const=False, activity=activity)  # type: ignore[arg-type]


def entry(name: str, *parameters: Parameter, kind: str = "kernel", returns: DataType | None = None) -> Entry:
    signature = Signature(name, kind, "_Z" + c_identifier(name), parameters, returns)  # type: ignore[arg-type]
    symbol = c_identifier(name)
    return Entry(signature, {"openmp": TargetEntry(f"adgen_p_{symbol}", f"adgen_g_{symbol}")})


ENTRIES = (
    entry("price", pointer("spot", const=True), pointer("price"), scalar("n")),
    entry("ns::axpy<float, 4>", pointer("register"), pointer("grid"), scalar("alpha", F32, "active")),
    entry("structs", struct("p", PAIR, "active"), struct("view", VIEW, "duplicated"), pointer("all", PAIR)),
    entry("odd", struct("q", PACKED, "duplicated"), pointer("raw", PACKED, activity="const"), pointer("d_raw")),
    entry("loss", pointer("x", F64, const=True), kind="function", returns=F64),
    entry("nothing"),
)


def compiled(tmp_path: Path, text: str, compiler: tuple[str, ...], user: str = "") -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    (tmp_path / "made.h").write_text(text)
    suffix = ".c" if compiler[0] == "gcc" else ".cpp"
    source = tmp_path / f"user{suffix}"
    source.write_text(f'#include "made.h"\n#include "made.h"\n{user}')
    target = tmp_path / "user.o"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-c", source, "-o", target], check=True)


@pytest.mark.parametrize(
    "compiler", [("gcc", "-std=c99", "-pedantic"), ("g++", "-std=c++11"), ("g++", "-std=c++20", "-pedantic")]
)
def test_header_compiles_without_a_warning(tmp_path: Path, compiler: tuple[str, ...]) -> None:
    user = """
    int use(const float *s, float *p, double *r, float *d);
    int use(const float *s, float *p, double *r, float *d) {
        adgen_dim3 one = {1, 1, 1};
        made_Pair_float value = {1.0f, {2.0f, 3.0f}};
        made_View view = {p, 3};
        return price_primal(one, one, 0, s, p, 3) + price_gradient(one, one, 0, s, p, 3, d, d)
            + ns_axpy_float_4_gradient(one, one, 0, p, p, 1.0f, d, d, d)
            + structs_gradient(one, one, 0, value, view, &value, &value, view, &value)
            + odd_primal(one, one, 0, p, p, p) + odd_gradient(one, one, 0, p, p, p, p, d)
            + loss_primal(r, r) + loss_gradient(r, r, 1.0) + nothing_primal(one, one, 0);
    }
    """
    compiled(tmp_path, render.header("made", "made.cu", ENTRIES), compiler, user)


LIBRARY = r"""
#include "made.h"
#include <stdio.h>
int adgen_p_price(const adgen_launch *l, void *const *a, void *r) {
    printf("%u %u %u %u %zu %g %g %d %d\n", l->grid[0], l->grid[2], l->block[1], l->block[0], (size_t)l->shared_bytes,
           **(const float **)a[0], **(float **)a[1], *(int *)a[2], r == NULL);
    return 0;
}
int adgen_g_loss(const adgen_launch *l, void *const *a, void *r) {
    printf("%d %g %g %g %d\n", l == NULL, **(const double **)a[0], **(double **)a[1], *(double *)a[2], r == NULL);
    return 1;
}
int adgen_p_loss(const adgen_launch *l, void *const *a, void *r) {
    *(double *)r = 2 * **(const double **)a[0] + (l != NULL);
    return 0;
}
int main(void) {
    adgen_dim3 grid = {2, 3, 4}, block = {5, 6, 7};
    float s = 1.5f, p = 2.5f;
    double x = 3.5, dx = 4.5, value = 0;
    int code = price_primal(grid, block, 96, &s, &p, 7) * 10 + loss_gradient(&x, &dx, 5.5);
    loss_primal(&x, &value);
    printf("%d %g\n", code, value);
    return 0;
}
"""


def test_header_hands_over_what_the_binary_interface_wants(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "made.h").write_text(render.header("made", "made.cu", (ENTRIES[0], ENTRIES[4])))
    extra = "int adgen_g_price(const adgen_launch *l, void *const *a, void *r) { (void)l; (void)a; (void)r; return 0; }"
    (tmp_path / "main.c").write_text(LIBRARY.replace("int main", f"{extra}\nint main"))
    subprocess.run([gcc, "-std=c99", "-Wall", "-Werror", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == ["2 4 6 5 96 1.5 2.5 7 1", "1 3.5 4.5 5.5 1", "1 7"]


def test_header_says_what_is_refused() -> None:
    signature = Signature("walk", "kernel", "walk", (pointer("x"),))
    refusal = Refusal("barrier */ in a loop", "", "a.cu", 12)
    only_primal = Entry(signature, {"openmp": TargetEntry("adgen_p_walk", None, gradient_refused=refusal)})
    text = render.header("a", "a.cu", [only_primal])
    assert "walk_primal(" in text
    assert "int walk_gradient" not in text
    assert "/* walk_gradient is missing: a.cu:12: barrier * / in a loop */" in text


def test_no_gradient_where_atomics_choose_what_remains() -> None:
    signature = Signature("most", "kernel", "most", (pointer("x"), replace(pointer("y"), chosen=True)))
    entry = Entry(
        signature, {"openmp": TargetEntry("most", "most_gradient")}, {"openmp": TargetEntry("most", "most_t")}
    )
    text = render.header("a", "a.cu", [entry])
    assert "most_primal(" in text
    assert "most_gradient(" not in text
    assert "most_tangent(" not in text
    assert "/* most_gradient is missing: atomics choose" in text


def test_no_gradient_where_threads_store_in_the_order_of_arrival() -> None:
    signature = Signature("k", "kernel", "k", (pointer("x"), replace(pointer("y"), unordered=Place("a.cu", 3))))
    text = render.header("a", "a.cu", [Entry(signature, {"openmp": TargetEntry("k", "k_gradient")})])
    assert "k_primal(" in text
    assert "k_gradient(" not in text
    assert "/* k_gradient is missing: threads store in the order of their arrival" in text


def test_header_has_tangents_where_forward_mode_was_asked_for() -> None:
    signature = Signature("f", "function", "f", (pointer("x"), Parameter("a", "scalar", F32, True, "const")), F32)
    made = Entry(signature, {"openmp": TargetEntry("p", "g")}, forward={"openmp": TargetEntry("p", "f__tangent")})
    text = render.header("a", "a.cu", [made])
    assert "int f__tangent(const adgen_launch *launch" in text
    assert re.search(r"int f_tangent\(float \*x,\s*float a,\s*float \*d_x,\s*float \*d_a,\s*float \*tangent\)", text)
    assert "return f__tangent(NULL, adgen_args, tangent);" in text
    assert "f_tangent" not in render.header("a", "a.cu", [Entry(signature, made.targets)])


def test_entries_of_other_targets_are_not_in_the_header() -> None:
    only_cuda = Entry(Signature("k", "kernel", "k", ()), {"cuda": TargetEntry("k", "k_gradient")})
    assert "k_primal" not in render.header("a", "a.cu", [only_cuda])


def test_structs_keep_their_layout_or_stay_opaque() -> None:
    types = CTypes("a")
    assert types.expressible(PAIR)
    assert types.expressible(VIEW)
    assert not types.expressible(PACKED)
    assert types.value(PAIR) == "a_Pair_float"
    assert types.structs[0].members == ("float x", "float v[2]")
    assert types.pointer(PACKED, "p", const=True) == "const void *p"


def test_two_structs_with_one_c_name_are_told_apart() -> None:
    types = CTypes("a")
    other = DataType("Pair*float*", "struct", 4, (StructField("x", 0, F32),))
    assert [types.value(PAIR), types.value(other)] == ["a_Pair_float", "a_Pair_pfloat_p"]
    same = DataType("Pair(float)", "struct", 4, (StructField("x", 0, F32),))
    assert types.value(same) == "a_Pair_float_2"


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("price", "price"),
        ("x_", "x_"),
        ("axpy<float *>", "axpy_float_p"),
        ("ns::f<float, 4>", "ns_f_float_4"),
        ("2nd", "_2nd"),
        ("double", "double_"),
        ("", "value"),
    ],
)
def test_identifiers(name: str, identifier: str) -> None:
    assert c_identifier(name) == identifier


def test_unique_numbers_what_is_taken() -> None:
    assert unique(["a", "a", "grid", "a"], taken=["grid"]) == ["a", "a_2", "grid_2", "a_3"]


def test_python_module_loads_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = render.python_module("black-scholes", 'a "b".cu', [*ENTRIES, entry("load"), entry("lambda")])
    loaded: list[tuple[Path, str | None]] = []

    class Module(dict[str, str]):
        def __missing__(self, name: str) -> str:
            return f"kernel {name}"

    def load(folder: Path, target: str | None = None) -> Module:
        loaded.append((folder, target))
        return Module()

    monkeypatch.setattr("enzyme_driver.load", load)
    path = tmp_path / "made.py"
    names: dict[str, object] = {"__file__": str(path)}
    exec(compile(text, path, "exec"), names)  # noqa: S102
    assert loaded == [(tmp_path, None)]
    assert names["price"] == "kernel price"
    assert names["ns_axpy_float_4"] == "kernel ns::axpy<float, 4>"
    assert names["load_2"] == "kernel load"
    assert names["lambda_"] == "kernel lambda"
    assert "black_scholes.price: price(const float32 *spot, float32 *price, int32 n)" in str(names["__doc__"])


def test_file_names_do_not_get_in_each_others_way() -> None:
    assert render.module_name("black-scholes") == "black_scholes"
    assert render.library_name("black_scholes") == "libblack_scholes.so"
    assert render.header_name("2d-heat") == "_2d_heat.h"


def test_instances_refer_to_every_name() -> None:
    assert render.instances("cuda", Path("/home/me/a.cu"), ["axpy<float>", "ns::f"]) == (
        '#include "/home/me/a.cu"\n\n'
        "__attribute__((used)) static __device__ auto adgen_instance_0 = &axpy<float>;\n"
        "__attribute__((used)) static __device__ auto adgen_instance_1 = &ns::f;\n"
    )
