"""The cache: what makes a hit, what makes a miss, and that nobody ever sees half of an entry."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import enzyme_driver
from enzyme_driver import artifact, cache, cache_index, request, toolchain
from enzyme_driver.cache import Difference
from enzyme_driver.errors import CacheError, SourceError
from enzyme_driver.request import Request
from enzyme_driver.settings import Settings


class FakePipeline:
    """Counts its builds; `during` runs while the compiler would."""

    def __init__(self, headers: tuple[Path, ...]) -> None:
        self.headers = headers
        self.builds = 0
        self.during: Callable[[], None] = lambda: None

    def build(self, wanted: Request, folder: Path, *, settings: Settings, progress: object = None) -> None:
        del settings, progress
        self.builds += 1
        self.during()
        files = [str(wanted.path), *map(str, self.headers)]
        contents = artifact.Contents(
            adgen="0",
            source=artifact.Source(wanted.path.name, "0"),
            options=artifact.Options(),
            entries=(),
            files={"liba.so": b"library", artifact.DEPENDENCIES: json.dumps(files).encode()},
            library="liba.so",
        )
        artifact.write(folder, contents)


class House:
    """A source with a header, compiled by a fake pipeline into a cache of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.header = folder / "a.h"
        self.source = folder / "a.cu"
        self.header.write_text("// header")
        self.source.write_text("// source")
        self.settings = Settings(home=folder / "home", cache_dir=folder / "cache", search=())
        self.pipeline = FakePipeline((self.header,))
        self.tools = (("clang version", "22.1.8"),)
        monkeypatch.setattr(enzyme_driver, "pipeline", self.pipeline, raising=False)
        monkeypatch.setattr(toolchain, "ensure", lambda _: "tools")
        monkeypatch.setattr(toolchain, "identity", lambda _, __: self.tools)

    @property
    def request(self) -> Request:
        return request.new(self.source)

    def build(self, wanted: Request | None = None, *, use_cache: bool = True) -> Path:
        return cache.build(wanted or self.request, settings=self.settings, use_cache=use_cache)

    def explain(self, wanted: Request | None = None) -> tuple[Difference, ...]:
        return cache.explain(wanted or self.request, settings=self.settings)

    def with_source(self, text: str) -> Request:
        self.source.write_text(text)
        return self.request

    def with_clang(self, version: str) -> Request:
        self.tools = (("clang version", version),)
        return self.request

    @property
    def left_over(self) -> list[Path]:
        return list((self.settings.cache_dir / "v1" / "building").iterdir())


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return House(tmp_path, monkeypatch)


def test_the_second_build_is_a_hit(house: House) -> None:
    first, second = house.build(), house.build()
    assert first == second
    assert house.pipeline.builds == 1
    assert artifact.read(first).targets == ("openmp",)
    assert house.explain() == ()
    assert house.left_over == []


CHANGES: dict[str, Callable[[House], Request]] = {
    "source": lambda house: house.with_source("// other"),
    "names": lambda house: replace(house.request, names=("f",)),
    "targets": lambda house: replace(house.request, targets=("openmp", "cuda")),
    "archs": lambda house: replace(house.request, archs=("sm_80",)),
    "activity": lambda house: replace(house.request, activity=(("n", "const"),)),
    "flags": lambda house: replace(house.request, flags=("-DN=1",)),
    "modes": lambda house: replace(house.request, modes=("reverse", "forward")),
    "inactive": lambda house: replace(house.request, inactive=("log",)),
    "derivatives": lambda house: replace(house.request, derivatives=(("f", "g"),)),
    "fast_math": lambda house: replace(house.request, fast_math=True),
    "clang version": lambda house: house.with_clang("22.1.9"),
}


@pytest.mark.parametrize("label", CHANGES)
def test_every_input_is_in_the_key(house: House, label: str) -> None:
    house.build()
    changed = CHANGES[label](house)
    assert label in [difference.label for difference in house.explain(changed)]
    house.build(changed)
    assert house.pipeline.builds == 2


def test_optimisations_left_out_are_in_the_key(house: House) -> None:
    house.build()
    house.settings = replace(house.settings, disable=frozenset({"lower-caches", "sink-zero-stores"}))
    assert house.explain() == (Difference("disable", "", "lower-caches, sink-zero-stores"),)


def test_the_environment_that_clang_reads_is_in_the_key(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.build()
    monkeypatch.setenv("CPATH", "/elsewhere")
    assert house.explain() == (Difference("CPATH", "", "/elsewhere"),)


def test_the_folder_matters_only_to_flags(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    flagged = request.new(house.source, flags=["-Iinclude"])
    house.build()
    house.build(flagged)
    (house.source.parent / "sub").mkdir()
    monkeypatch.chdir(house.source.parent / "sub")
    house.build()
    assert house.pipeline.builds == 2
    house.build(flagged)
    assert house.pipeline.builds == 3


def test_adgens_own_code_is_in_the_key(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.build()
    monkeypatch.setattr(cache, "_own_digest", lambda: "another pass")
    assert [difference.label for difference in house.explain()] == ["adgen's code"]


def test_a_changed_header_is_compiled_again_and_the_old_one_found_again(house: House) -> None:
    first = house.build()
    house.header.write_text("// other")
    (why,) = house.explain()
    assert (why.label, why.now) == (f"included file {house.header}", "changed")
    second = house.build()
    house.header.write_text("// header")
    assert house.build() == first != second
    assert house.pipeline.builds == 2


def test_a_deleted_header_is_a_miss(house: House) -> None:
    house.build()
    house.header.unlink()
    assert house.explain()[0].now == "gone"


def test_a_touched_header_is_a_hit(house: House) -> None:
    house.build()
    os.utime(house.header)
    house.build()
    assert house.pipeline.builds == 1


def test_a_header_that_changes_during_the_build_never_hits(house: House) -> None:
    def edit() -> None:
        time.sleep(0.02)
        house.header.write_text("// edited meanwhile")

    house.pipeline.during = edit
    house.build()
    house.pipeline.during = lambda: None
    assert "changed while it was compiled" in house.explain()[0].was
    house.build()
    assert house.pipeline.builds == 2


def test_an_old_file_is_not_read_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    old = cache_index.dependency(json.__file__, time.time_ns())
    fresh = cache_index.dependency(str(house.header), time.time_ns())
    assert old.stat is not None
    assert fresh.stat is None
    monkeypatch.setattr(cache_index, "_digest", lambda _: pytest.fail("the file was read"))
    assert cache_index.unchanged(old)


@pytest.mark.parametrize("damage", ["truncated library", "truncated manifest", "missing library"])
def test_a_damaged_entry_is_built_again(house: House, damage: str) -> None:
    entry = house.build()
    name = "manifest.json" if "manifest" in damage else "liba.so"
    if "missing" in damage:
        (entry / name).unlink()
    else:
        (entry / name).write_bytes((entry / name).read_bytes()[:3])
    assert house.explain()[0].now == "damaged"
    assert house.build() == entry
    assert (entry / "liba.so").read_bytes() == b"library"
    assert house.pipeline.builds == 2


def test_a_damaged_index_is_a_miss(house: House) -> None:
    house.build()
    (index,) = (house.settings.cache_dir / "v1" / "index").iterdir()
    index.write_text(index.read_text()[:40])
    house.build()
    assert house.pipeline.builds == 2
    house.build()
    assert house.pipeline.builds == 2


def test_a_failed_build_leaves_nothing(house: House) -> None:
    def fail() -> None:
        raise SourceError("does not compile")

    house.pipeline.during = fail
    with pytest.raises(SourceError, match="does not compile"):
        house.build()
    assert house.left_over == []
    assert cache.summary(house.settings).entries == 0


def test_without_the_cache_nothing_is_kept(house: House) -> None:
    first, second = house.build(use_cache=False), house.build(use_cache=False)
    assert first != second
    assert artifact.read(first).entries == ()
    assert not house.settings.cache_dir.exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_an_unwritable_folder_is_an_error_with_a_way_out(house: House, code: int) -> None:
    def refuse() -> None:
        raise OSError(code, os.strerror(code))

    house.pipeline.during = refuse
    with pytest.raises(CacheError, match=os.strerror(code)) as caught:
        house.build()
    assert "ADGEN_CACHE_DIR" in caught.value.hint
    assert house.left_over == []


def test_a_file_in_place_of_the_folder(house: House) -> None:
    house.settings.cache_dir.write_text("not a folder")
    with pytest.raises(CacheError, match="Not a directory") as caught:
        house.build()
    assert "--no-cache" in caught.value.hint


def test_a_cache_that_can_only_be_read_is_used(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = house.build()

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert house.build() == entry


def test_other_system_errors_are_not_blamed_on_the_folder(house: House) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    house.pipeline.during = fail
    with pytest.raises(OSError, match="Input/output") as caught:
        house.build()
    assert not isinstance(caught.value, CacheError)


def test_of_two_processes_one_compiles(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("// header")
    (tmp_path / "a.cu").write_text("// source")
    context = multiprocessing.get_context("fork")
    done: multiprocessing.Queue[tuple[int, str]] = context.Queue()
    processes = [context.Process(target=build_once, args=(tmp_path, done)) for _ in range(2)]
    for process in processes:
        process.start()
    results = [done.get(timeout=20) for _ in processes]
    for process in processes:
        process.join(timeout=20)
    assert sorted(builds for builds, _ in results) == [0, 1]
    assert len({folder for _, folder in results}) == 1


def build_once(folder: Path, done: multiprocessing.Queue[tuple[int, str]]) -> None:
    """In a process of its own; slow enough for the other one to come in between."""
    settings = Settings(home=folder / "home", cache_dir=folder / "cache", search=())
    pipeline = FakePipeline((folder / "a.h",))
    pipeline.during = lambda: time.sleep(0.4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enzyme_driver, "pipeline", pipeline, raising=False)
        patch.setattr(toolchain, "ensure", lambda _: "tools")
        patch.setattr(toolchain, "identity", lambda _, __: ())
        made = cache.build(request.new(folder / "a.cu"), settings=settings)
    done.put((pipeline.builds, str(made)))


def test_a_lock_that_nobody_lets_go_of(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    said: list[str] = []
    monkeypatch.setattr(cache, "_SHORTEST_WAIT_SECONDS", 0.1)
    settings = replace(house.settings, timeout=0.01)
    lock = cache.Rooms(settings.cache_dir).lock(cache.make_key(house.request, settings))
    lock.parent.mkdir(parents=True)
    with FileLock(lock), pytest.raises(CacheError, match="another process"):
        cache.build(house.request, settings=settings, progress=said.append)
    assert said == ["another process compiles the same file, waiting for it"]
    assert cache.build(house.request, settings=settings)


def test_summary_clear_and_explain_afterwards(house: House) -> None:
    house.build()
    counted = cache.summary(house.settings)
    assert counted.entries == 1
    assert counted.size > 0
    assert cache.clear(house.settings) == counted
    assert cache.summary(house.settings).entries == 0
    assert house.explain()[0].was == "never compiled with this cache"
    assert list((house.settings.cache_dir / "v1" / "index").iterdir()) == []


def test_prune_by_age_and_by_size_keeps_the_last_used(house: House) -> None:
    old = house.build()
    new = house.build(replace(house.request, fast_math=True))
    os.utime(old, (time.time() - 100, time.time() - 100))
    size = cache.summary(house.settings).size
    assert cache.prune(house.settings, max_age=1000).entries == 0
    assert cache.prune(house.settings, max_size=size).entries == 0
    assert cache.prune(house.settings, max_size=size - 1).entries == 1
    assert (old.exists(), new.exists()) == (False, True)
    os.utime(new, (time.time() - 100, time.time() - 100))
    assert cache.prune(house.settings, max_age=50).entries == 1


def test_a_hit_counts_as_a_use(house: House) -> None:
    entry = house.build()
    os.utime(entry, (0, 0))
    house.build()
    assert entry.stat().st_mtime > 0


def test_prune_sweeps_what_killed_processes_left(house: House) -> None:
    house.build()
    building = house.settings.cache_dir / "v1" / "building"
    (building / "young").mkdir()
    (building / "old").mkdir()
    os.utime(building / "old", (0, 0))
    cache.prune(house.settings)
    assert [path.name for path in house.left_over] == ["young"]


def test_empty_cache_can_be_asked(house: House) -> None:
    assert cache.summary(house.settings).entries == 0
    assert cache.clear(house.settings).entries == 0


def test_a_warm_build_starts_no_compiler(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.build()
    monkeypatch.setattr(enzyme_driver, "pipeline", SimpleNamespace())
    house.build()
