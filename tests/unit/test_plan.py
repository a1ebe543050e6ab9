"""Which entries are chosen, and what is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage_support import DOUBLE, FLOAT, INT, kernel, parameter

from enzyme_driver.errors import Location, NameNotFoundError, RefusedError, SourceError, UsageError
from enzyme_driver.model import Activity, DataType, Parameter, Signature, StructField
from enzyme_driver.runtime.call.members import members
from enzyme_driver.stages import plan
from enzyme_driver.stages.plan import OF_ARRAYS, Plan
from enzyme_driver.stages.signature import Description

FILE = "/home/u/k.cu"

POINTER = DataType("pointer", "pointer", 8, pointee=FLOAT)
TABLE = DataType("pointer", "pointer", 8, pointee=POINTER)
OPTIONS = DataType("Options", "struct", 8, (StructField("rate", 0, FLOAT), StructField("steps", 4, INT)))
ARRAYS = DataType("Arrays", "struct", 16, (StructField("x", 0, POINTER), StructField("n", 8, INT)))
COUNTS = DataType("Counts", "struct", 4, (StructField("n", 0, INT),))
OPAQUE = DataType("complex", "opaque", 8)


def make(*entries: Signature, names: tuple[str, ...] = (), activity: Mapping[str, Activity] | None = None) -> Plan:
    return plan.make(Description(entries), names, activity or {}, FILE)


def activities(*parameters: Parameter, **activity: Activity) -> tuple[str, ...]:
    (entry,) = make(kernel("k", *parameters), activity=activity).entries
    return tuple(each.activity for each in entry)


def names(made: Plan) -> list[str]:
    return [entry.name for entry in made.entries]


AXPY = (kernel("_Z4axpyIfEvv", name="axpy<float>"), kernel("_Z4axpyIdEvv", name="axpy<double>"))
TILED = kernel("_Z4tileILj16EEvv", name="la::tile<float, 16U>")
OVERLOADED = (kernel("_Z1fPf", name="f"), kernel("_Z1fPd", name="f"))


def test_all_entries_are_chosen_where_none_is_named_but_for_local_ones() -> None:
    entries = (kernel("a"), kernel("b"), kernel("c"))
    made = plan.make(Description(entries, frozenset({"b"})), (), {}, FILE)
    assert names(made) == ["a", "c"]


def test_a_local_one_is_chosen_by_name() -> None:
    made = plan.make(Description((kernel("a"), kernel("b")), frozenset({"b"})), ("b",), {}, FILE)
    assert names(made) == ["b"]


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("axpy<double>", "_Z4axpyIdEvv"),
        ("axpy< float >", "_Z4axpyIfEvv"),
        ("::axpy<float>", "_Z4axpyIfEvv"),
        ("_Z4axpyIfEvv", "_Z4axpyIfEvv"),
        ("la::tile<float,16>", TILED.symbol),
        ("la::tile<float, 16u>", TILED.symbol),
        ("tile<float, 16>", TILED.symbol),
        ("tile", TILED.symbol),
        ("la::tile", TILED.symbol),
    ],
)
def test_names_are_compared_by_their_meaning(name: str, symbol: str) -> None:
    (entry,) = make(*AXPY, TILED, names=(name,)).entries
    assert entry.symbol == symbol


def test_a_full_name_goes_before_one_in_a_namespace() -> None:
    entries = (kernel("_Zns1f", name="ns::f"), kernel("_Z1f", name="f"))
    assert [entry.symbol for entry in make(*entries, names=("f",)).entries] == ["_Z1f"]


def test_a_name_asked_for_twice_is_chosen_once() -> None:
    assert names(make(*AXPY, names=("axpy<float>", "axpy<float >"))) == ["axpy<float>"]


def test_the_order_is_that_in_which_they_are_asked_for() -> None:
    assert names(make(*AXPY, names=("axpy<double>", "axpy<float>"))) == ["axpy<double>", "axpy<float>"]


def test_a_name_that_is_not_there_lists_near_ones() -> None:
    with pytest.raises(NameNotFoundError, match="'prise'") as caught:
        make(kernel("price"), kernel("prices"), kernel("other"), names=("prise",))
    assert "price, prices" in caught.value.hint
    assert "other" not in caught.value.hint
    assert caught.value.location == Location(FILE)


def test_where_nothing_is_near_all_are_listed() -> None:
    with pytest.raises(NameNotFoundError) as caught:
        make(kernel("alpha"), kernel("beta"), names=("zzz",))
    assert "alpha, beta" in caught.value.hint


def test_local_ones_are_not_offered_as_near_names() -> None:
    description = Description((kernel("price"), kernel("price_all")), frozenset({"price_all"}))
    assert "price_all" not in plan.not_found(description, "pryce", FILE).hint


def test_instances_and_templates_of_that_name_are_listed() -> None:
    with pytest.raises(NameNotFoundError) as caught:
        make(*AXPY, kernel("axp"), names=("axpy",))
    assert "the file has: axpy<float>, axpy<double>;" in caught.value.hint
    hint = plan.not_found(Description((kernel("b"),)), "axpy", FILE, ["ns::axpy<T, N>"]).hint
    assert "the file has: ns::axpy<T, N>;" in hint


def test_the_namespaces_of_a_template_need_not_be_said() -> None:
    templates = ("ns::axpy<T, N>", "a::f<T>", "b::f<T>")
    asked = ("axpy<float, 3>", "ns::axpy<float, 3>", "f<int>", "axpy", "g<int>")
    assert plan.qualified(asked, templates) == ("ns::axpy<float, 3>", *asked[1:])


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("error: no member named 'Half' in namespace 'at'\n 3 | x", "no member named 'Half' in namespace 'at'"),
        (
            "error: variable 'adgen_instance_0' has ...",
            "the arguments do not fit, or several templates have that name",
        ),
    ],
)
def test_why_there_is_no_instance_of_a_template(said: str, told: str) -> None:
    error = plan.no_instance("f<at::Half>", "ns::f<T, N>", SourceError(said), Location(FILE, 7))
    assert error.reason == f"clang cannot make f<at::Half>: {told}"
    assert "ns::f<T, N>" in error.hint
    assert "template __global__ void f<at::Half>(...);" in error.hint
    assert error.location == Location(FILE, 7)


def test_a_template_without_an_instance_is_told() -> None:
    templates = {"axpy<T>": 3, "ns::f<T>": 7, "h<T>": 9}
    ((name, reason),) = plan.unmade(Description(AXPY), templates, [("h", SourceError("no"))], FILE)
    assert (name, reason.location) == ("ns::f<T>", Location(FILE, 7))
    assert "ns::f<T>" in plan.nothing(FILE, templates).hint


def test_missing_names_have_to_be_instantiated() -> None:
    assert plan.missing(Description(AXPY), ("axpy<float>", "axpy<int>", "axpy")) == ("axpy<int>", "axpy")


def test_an_overloaded_name_is_told_with_the_symbols() -> None:
    with pytest.raises(UsageError, match="'f' is overloaded") as caught:
        make(*OVERLOADED, names=("f",))
    assert "_Z1fPf (line 7), _Z1fPd (line 7)" in caught.value.hint
    assert names(make(*OVERLOADED, names=("_Z1fPd",))) == ["f"]


def test_a_file_without_entries() -> None:
    with pytest.raises(NameNotFoundError, match="no kernel or function"):
        make()


@pytest.mark.parametrize(
    ("given_parameter", "asked", "decided"),
    [
        (parameter("p"), None, "duplicated"),
        (parameter("p", OPTIONS), None, "duplicated"),
        (parameter("p", INT), None, "const"),
        (parameter("p", COUNTS), None, "const"),
        (parameter("p", FLOAT, "scalar"), None, "const"),
        (parameter("p", OPTIONS, "struct"), None, "const"),
        (parameter("p", ARRAYS, "struct"), None, "duplicated"),
        (parameter("p"), "const", "const"),
        (parameter("p", POINTER), "const", "const"),
        (parameter("p", ARRAYS, "struct"), "const", "const"),
        (parameter("p"), "duplicated", "duplicated"),
        (parameter("p"), "owned", "owned"),
        (parameter("p"), "fresh", "fresh"),
        (parameter("p"), "discarded", "discarded"),
        (parameter("p"), "active", "duplicated"),
        (parameter("p", FLOAT, "scalar"), "active", "active"),
        (parameter("p", DOUBLE, "scalar"), "duplicated", "active"),
        (parameter("p", OPTIONS, "struct"), "active", "active"),
        (parameter("p", ARRAYS, "struct"), "active", "duplicated"),
    ],
    ids=lambda value: f"{value.form}-{value.dtype}" if isinstance(value, Parameter) else str(value),
)
def test_activities(given_parameter: Parameter, asked: Activity | None, decided: str) -> None:
    assert activities(given_parameter, **({"p": asked} if asked else {})) == (decided,)


GRID = DataType("Grid", "struct", 24, (StructField("inner", 0, ARRAYS), StructField("y", 16, POINTER)))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((), "duplicated"),
        (("p.y",), "duplicated@16"),
        (("p.inner",), "duplicated@0"),
        (("p.inner.x", "p.y"), "const@0@16"),
    ],
)
def test_an_array_in_a_struct_may_be_const(asked: tuple[str, ...], said: str) -> None:
    made = make(kernel("k", parameter("p", GRID, "struct")), activity=dict.fromkeys(asked, "const"))
    assert made.option == f"k={said}"
    member_names = {member.parameter.name for member in members(made.entries[0]["p"]) if member.parameter.has_shadow}
    assert member_names == ({"p.inner.x", "p.y"} - set(asked) - {f"{each}.x" for each in asked})


def test_members_that_cannot_be_const() -> None:
    entry = kernel("k", parameter("p", GRID, "struct"))
    with pytest.raises(NameNotFoundError, match=r"'p\.inner\.n' of k leads to no array of floating point") as caught:
        make(entry, activity={"p.inner.n": "const"})
    assert caught.value.hint == "the members that do are p.inner.x, p.y"
    with pytest.raises(UsageError, match=r"the member 'p\.y' of k cannot be active"):
        make(entry, activity={"p.y": "active"})
    with pytest.raises(NameNotFoundError, match=r"no parameter is called 'q\.y'"):
        make(entry, activity={"q.y": "const"})


@pytest.mark.parametrize("asked", sorted(OF_ARRAYS))
def test_only_arrays_are_owned_fresh_or_discarded(asked: Activity) -> None:
    with pytest.raises(UsageError, match=f"'p' of k cannot be {asked}: it is no array"):
        activities(parameter("p", FLOAT, "scalar"), p=asked)


@pytest.mark.parametrize("asked", ["active", "duplicated"])
@pytest.mark.parametrize(
    "given_parameter",
    [parameter("p", INT), parameter("p", INT, "scalar"), parameter("p", COUNTS, "struct"), parameter("p", COUNTS)],
    ids=["pointer", "scalar", "struct", "pointer to struct"],
)
def test_what_holds_no_floats_cannot_be_differentiated(given_parameter: Parameter, asked: Activity) -> None:
    with pytest.raises(UsageError, match=r"'p' of k is .* no derivative") as caught:
        activities(given_parameter, p=asked)
    assert caught.value.location == Location(FILE, 7)


def test_a_table_of_rows_has_shadows_of_its_rows() -> None:
    assert activities(parameter("p", POINTER)) == ("duplicated",)
    assert activities(parameter("p", replace(POINTER, pointee=INT))) == ("const",)
    assert activities(parameter("p", POINTER), p="const") == ("const",)


@pytest.mark.parametrize("dtype", [TABLE, ARRAYS], ids=["pointer", "struct"])
def test_a_pointer_to_pointers_is_refused_with_the_way_out(dtype: DataType) -> None:
    with pytest.raises(RefusedError, match="'p' of k points to pointers") as caught:
        activities(parameter("p", dtype))
    assert "p=const" in caught.value.hint
    assert caught.value.location == Location(FILE, 7)


def test_a_pointer_to_an_unknown_type_is_refused_unless_const() -> None:
    with pytest.raises(RefusedError, match="points to complex"):
        activities(parameter("p", OPAQUE))
    assert activities(parameter("p", OPAQUE), p="const") == ("const",)


@pytest.mark.parametrize(
    ("name", "member", "words"),
    [
        ("map<int, double, std::less<int> >", "_M_t", "a std::map"),
        ("function<double (double)>", "_M_functor", "a std::function"),
        ("any", "_M_manager", "a std::any"),
        ("basic_string<char>", "_M_dataplus", "a std::string"),
        ("Shape", "_vptr$Shape", "an object with virtual functions"),
    ],
)
def test_what_only_cpp_makes_is_refused_with_the_way_out(name: str, member: str, words: str) -> None:
    kept = DataType(name, "struct", 8, (StructField(member, 0, POINTER),))
    with pytest.raises(RefusedError, match=f"'p' of k is {words}, which cannot be handed over") as caught:
        activities(parameter("p", kept, "struct"))
    assert f"makes {words} and calls k" in caught.value.hint
    holder = DataType("Config", "struct", 16, (StructField("scale", 0, DOUBLE), StructField("inner", 8, kept)))
    with pytest.raises(RefusedError, match=f"'p' of k holds {words}"):
        activities(parameter("p", holder, "struct"))


def test_own_types_that_are_named_like_the_librarys_are_not_refused() -> None:
    own = DataType("map<double>", "struct", 8, (StructField("scale", 0, DOUBLE),))
    assert activities(parameter("p", own)) == ("duplicated",)


@pytest.mark.parametrize("returned", [POINTER, OPTIONS, OPAQUE], ids=str)
def test_only_numbers_are_returned_to_python(returned: DataType) -> None:
    function = Signature("f", "function", "f", (parameter("x"),), returned, FILE, 3)
    with pytest.raises(RefusedError, match=f"f returns {returned}"):
        make(function)


def test_a_refused_entry_among_others_is_kept_with_its_reason() -> None:
    made = make(kernel("good"), kernel("bad", parameter("p", TABLE)))
    assert names(made) == ["good"]
    ((entry, reason),) = made.refused
    assert entry.name == "bad"
    assert "points to pointers" in reason.reason


def test_a_refused_entry_that_was_asked_for_is_an_error() -> None:
    with pytest.raises(RefusedError):
        make(kernel("good"), kernel("bad", parameter("p", TABLE)), names=("good", "bad"))


def test_activity_of_a_parameter_that_is_not_there() -> None:
    with pytest.raises(NameNotFoundError, match="no parameter is called 'sport'") as caught:
        make(kernel("k", parameter("spot"), parameter("n", INT, "scalar")), activity={"sport": "const"})
    assert caught.value.hint == "did you mean spot?"
    with pytest.raises(NameNotFoundError) as caught:
        make(kernel("k", parameter("spot"), parameter("n", INT, "scalar")), activity={"vol": "const"})
    assert caught.value.hint == "the parameters and variables are spot, n"


def test_names_that_are_near_are_not_called_all_of_the_file() -> None:
    description = Description((kernel("price"), kernel("greeks")))
    assert "did you mean: price;" in plan.not_found(description, "pryce", FILE).hint
    assert "the file has: price, greeks;" in plan.not_found(description, "xyz", FILE).hint


def test_in_forward_mode_every_number_of_floating_point_has_a_tangent() -> None:
    x, a, n = parameter("x", activity="owned"), parameter("a", form="scalar"), parameter("n", INT, "scalar")
    made = plan.derivatives(Plan((kernel("k", x, a, n), kernel("l", a))), ["reverse", "forward"])
    assert made.gradients.option == "k=owned:const:const"
    assert made.tangents.option == "k=owned:active:const;l=active"
    assert made.units == (("reverse", "k"), ("forward", "k"), ("forward", "l"))
    assert made.only([("forward", "k")]).units == (("forward", "k"),)
    assert [entry.symbol for entry in made.entries] == ["k", "l"]


def test_activity_holds_in_the_entries_that_have_the_parameter() -> None:
    made = make(kernel("a", parameter("x")), kernel("b", parameter("y")), activity={"x": "const"})
    assert [entry.parameters[0].activity for entry in made.entries] == ["const", "duplicated"]


def test_the_option_of_the_passes() -> None:
    made = make(kernel("a", parameter("x"), parameter("n", INT, "scalar")), kernel("b", parameter("y")))
    assert made.option == "a=duplicated:const;b=duplicated"
    assert made.symbols == "a;b"
    assert made.only(["b"]).option == "b=duplicated"


SPELLINGS = st.lists(st.sampled_from(["float", "double", "16", "16U", "3ul", "ns::T", "Pair<int, 4>"]), max_size=4)


@given(SPELLINGS, st.data())
def test_spaces_never_change_what_is_found(arguments: list[str], data: st.DataObject) -> None:
    name = f"ns::k<{', '.join(arguments)}>"
    spaced = "".join(sign + data.draw(st.sampled_from(["", " "])) if sign in "<>,:" else sign for sign in name)
    assert names(make(kernel("one", name=name), kernel("other"), names=(spaced,))) == [name]


def test_the_states_of_random_numbers_have_no_derivative() -> None:
    extra = StructField("boxmuller_extra", 0, FLOAT)
    state = DataType("curandStateXORWOW", "struct", 4, (extra,))
    assert activities(parameter("state", state)) == ("const",)
    assert activities(parameter("state", state), state="duplicated") == ("duplicated",)


@pytest.mark.parametrize(
    ("templates", "named"),
    [
        (("ns::norm<scalar_t>", "other<T, n>"), "such as -k 'ns::norm<float>'"),
        (("other<T, int n, bool flag, Way way>",), "-k 'other<float, 32, true, ...>'"),
        ((), "-k 'axpy<float>'"),
    ],
)
def test_a_file_of_templates_alone_says_how_its_first_is_named(templates: tuple[str, ...], named: str) -> None:
    assert named in plan.nothing("a.cu", templates).hint
    found = plan.unmade(Description(()), dict.fromkeys(templates, 3), (), "a.cu")
    assert [error.location for _, error in found] == [Location("a.cu", 3)] * len(templates)


def test_of_many_templates_some_are_named() -> None:
    hint = plan.nothing("a.cu", [f"k{i}<T>" for i in range(40)]).hint
    assert "k0<T>, " in hint
    assert "k11<T>, 28 more: a template" in hint


X, N = parameter("x", DOUBLE, "scalar"), parameter("n", INT, "scalar")


@pytest.mark.parametrize(
    ("entry", "activity", "expected"),
    [
        (Signature("f", "function", "f", (X, N), DOUBLE, FILE, 3), {}, ("active", "const")),
        (Signature("f", "function", "f", (X, parameter("y")), DOUBLE, FILE, 3), {}, ("const", "duplicated")),
        (Signature("f", "function", "f", (X, replace(X, name="y")), DOUBLE, FILE, 3), {"x": "const"}, ("const",) * 2),
        (Signature("f", "function", "f", (X,), INT, FILE, 3), {}, ("const",)),
        (Signature("f", "function", "f", (X,), None, FILE, 3), {}, ("const",)),
        (kernel("k", X), {}, ("const",)),
    ],
)
def test_numbers_of_a_function_of_numbers_have_derivatives_unasked(
    entry: Signature, activity: Mapping[str, Activity], expected: tuple[str, ...]
) -> None:
    (made,) = make(entry, activity=activity).entries
    assert tuple(each.activity for each in made) == expected
