"""The registry of passes and the pipelines: every pass is declared once, used somewhere, and comes where it must."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import enzyme_driver
from enzyme_driver import pipelines, registry, resources
from enzyme_driver.optimisations import FORMER, OPTIMISATIONS, parsed
from enzyme_driver.pipelines import Pass, Pipeline, render

PACKAGE = Path(enzyme_driver.__file__).parent
SOURCES = {path: path.read_text(encoding="utf-8") for path in resources.own_sources("passes") if path.suffix == ".cpp"}
FACTS = {each.when for pipeline in pipelines.ALL for each in pipeline.passes if each.when}


class Words(dict[str, str]):
    """Every word, as itself."""

    def __missing__(self, word: str) -> str:
        return word


def all_passes(each: Pass) -> Iterator[Pass]:
    yield each
    for inner in each.inner:
        yield from all_passes(inner)


def own(pipeline: Pipeline) -> list[Pass]:
    return [one for each in pipeline.passes for one in all_passes(each) if one.name.startswith(registry.PREFIX)]


def test_every_row_is_read() -> None:
    text = (PACKAGE / "passes" / "Passes.def").read_text(encoding="utf-8")
    assert len(registry.rows()) == len(re.findall(r"^ADGEN_PASS\(", text, re.MULTILINE)) > 100
    assert len(registry.by_name()) == len({row.pass_class for row in registry.rows()}) == len(registry.rows())


@pytest.mark.parametrize("row", registry.rows(), ids=lambda row: row.name)
def test_every_row_has_a_class_that_takes_what_it_says(row: registry.Row) -> None:
    kind = "ADGEN_DECLARE_PASS_WITH_OPTION" if row.takes_option else "ADGEN_DECLARE_PASS"
    declared = [path for path, text in SOURCES.items() if f"\n{kind}({row.pass_class});" in text]
    defined = [path for path, text in SOURCES.items() if f"\nPreservedAnalyses {row.pass_class}::run(" in text]
    assert len(defined) == 1
    assert declared == defined
    uses = [each for pipeline in pipelines.ALL for each in own(pipeline) if each.name == row.name]
    assert uses
    assert all(bool(each.option) == row.takes_option for each in uses)


@pytest.mark.parametrize("row", registry.rows(), ids=lambda row: row.name)
def test_every_class_lies_in_its_folder(row: registry.Row) -> None:
    defined = (path for path, text in SOURCES.items() if f"\nPreservedAnalyses {row.pass_class}::run(" in text)
    assert [path.parent.name for path in defined] == [row.folder]


@pytest.mark.parametrize(
    "path",
    [path for path in resources.own_sources("passes") if path.suffix in {".cpp", ".h"}],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_includes_across_folders_go_to_support_and_analysis_only(path: Path) -> None:
    """Support stands on nothing, Analysis on Support, and no folder of passes on another."""
    room = path.parent.name
    allowed = {room, *{"Support": (), "Analysis": ("Support",)}.get(room, ("Support", "Analysis"))}
    included = re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    own = [name for name in included if not name.startswith(("llvm/", "Passes.def"))]
    assert all((PACKAGE / "passes" / name).is_file() for name in own), "included as if from passes/"
    assert {name.partition("/")[0] for name in own} <= allowed


def test_every_class_has_a_row() -> None:
    defined = re.findall(r"^PreservedAnalyses (\w+)::run\(", "\n".join(SOURCES.values()), re.MULTILINE)
    assert sorted(defined) == sorted(row.pass_class for row in registry.rows())


@pytest.mark.parametrize("row", [row for row in registry.rows() if row.optional], ids=lambda row: row.name)
def test_every_optional_pass_counts_what_it_does(row: registry.Row) -> None:
    (text,) = (text for text in SOURCES.values() if re.search(rf"ADGEN_DECLARE_PASS\w*\({row.pass_class}\)", text))
    assert f'#define DEBUG_TYPE "{row.name}"' in text
    assert "STATISTIC(" in text


def test_pipelines_use_passes_that_there_are() -> None:
    names = {each.name for pipeline in pipelines.ALL for each in own(pipeline)}
    assert names == registry.by_name().keys()


def test_what_is_required_has_no_switch_and_what_is_optional_one() -> None:
    for pipeline in pipelines.ALL:
        for each in pipeline.passes:
            row = registry.by_name().get(each.name)
            if row and row.optional:
                assert each.turned_off_by in OPTIMISATIONS
            elif each.turned_off_by:  # what an optional pass needs before or behind itself
                assert each.turned_off_by in OPTIMISATIONS
                assert each.name == "adgen-link-libraries" or row is None


@pytest.mark.parametrize("pipeline", pipelines.ALL, ids=lambda pipeline: pipeline.name)
def test_a_switch_leaves_out_its_passes_and_no_others(pipeline: Pipeline) -> None:
    whole = render(pipeline, Words(), facts=FACTS)
    for switch in OPTIMISATIONS:
        without = render(pipeline, Words(), facts=FACTS, disabled={switch})
        assert (without != whole) == any(each.turned_off_by == switch for each in pipeline.passes)
        assert f"{registry.PREFIX}{switch}" not in re.split(r"[,<]", without)


@pytest.mark.parametrize("pipeline", pipelines.ALL, ids=lambda pipeline: pipeline.name)
def test_passes_come_after_those_that_they_need(pipeline: Pipeline) -> None:
    names = [each.name for each in pipeline.passes]
    for place, each in enumerate(pipeline.passes):
        for before in each.after:
            assert before not in names or before in names[:place], f"{each.name} must come after {before}"


def test_every_constraint_holds_somewhere() -> None:
    for pipeline in pipelines.ALL:
        for each in pipeline.passes:
            for before in each.after:
                assert any({each.name, before} <= {one.name for one in some.passes} for some in pipelines.ALL), (
                    f"no pipeline has both {before} and {each.name}"
                )


def test_only_the_pipelines_name_passes() -> None:
    names = "|".join(map(re.escape, registry.by_name()))
    allowed = set((PACKAGE / "pipelines").glob("*.py"))
    for path in set(PACKAGE.rglob("*.py")) - allowed:
        found = re.findall(rf'"(?:{names})[<,"]', path.read_text(encoding="utf-8"))
        assert not found, f"{path.name} names {found}"


def test_rendering() -> None:
    nested = Pipeline("inner", (Pass("function", inner=(Pass("sroa"), Pass("early-cse", "memssa"))),))
    some = Pipeline(
        "some", (Pass("a", "{x};{y}"), nested, Pass("b", switch="s"), Pass("c", when="w"), Pass("d", "{e}"))
    )
    words = {"x": "1", "y": "2", "e": ""}
    assert render(some, words) == "a<1;2>,function(sroa,early-cse<memssa>),b,d<>"
    assert render(some, words, facts={"w"}, disabled={"s"}) == "a<1;2>,function(sroa,early-cse<memssa>),c,d<>"


def test_former_names_of_optimisations_stand_for_todays() -> None:
    assert not FORMER.keys() & OPTIMISATIONS.keys()
    assert set(FORMER.values()) <= OPTIMISATIONS.keys()
    assert parsed("tape,lower-caches, skip-zeros") == {"lower-caches", "skip-zeros"}


def test_a_pass_is_called_like_its_class() -> None:
    for row in registry.rows():
        assert row.name.removeprefix(registry.PREFIX).replace("-", "") == row.pass_class.lower()
