"""The artifact folder: what is written comes back, and anything else is an ArtifactError."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runtime_support import ENTRIES

from enzyme_driver.artifact import Artifact, Contents, Manifest, Options, Source, read, write
from enzyme_driver.decode import decode
from enzyme_driver.errors import ArtifactError, CacheError
from enzyme_driver.model import Entry

QUICK = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def sample(**changes: Any) -> Contents:  # noqa: ANN401
    facts: dict[str, Any] = {
        "adgen": "0.1",
        "source": Source("a.cu", "ab" * 32),
        "options": Options(("-DX=1",), True, {"n": "const"}),
        "entries": ENTRIES,
        "files": {"a.so": b"host", "a.sm_90.cubin": b"cubin", "a.sm_90.ptx": b"ptx", "a.h": b"header"},
        "library": "a.so",
        "cuda": {"sm_90": ("a.sm_90.cubin", "a.sm_90.ptx")},
    }
    return Contents(**{**facts, **changes})


def manifest_of(folder: Path) -> Any:  # noqa: ANN401
    return json.loads((folder / "manifest.json").read_text())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftovers(folder: Path) -> list[str]:
    return [name for name in names_in(folder) if name.startswith(".")]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = write(tmp_path / "a", sample())
    artifact = read(tmp_path / "a")
    assert artifact == written
    assert artifact.entries == ENTRIES
    assert artifact.targets == ("openmp", "cuda")
    assert artifact.archs == ("sm_90",)
    assert artifact.manifest.options == Options(("-DX=1",), True, {"n": "const"})
    assert artifact.library().read_bytes() == b"host"
    assert artifact.cubin("sm_90") == b"cubin"
    assert artifact.ptx("sm_90") == b"ptx"
    assert (tmp_path / "a" / "a.h").read_bytes() == b"header"
    assert leftovers(tmp_path) == []


def test_the_manifest_is_what_the_documents_say(tmp_path: Path) -> None:
    write(tmp_path / "a", sample())
    data = manifest_of(tmp_path / "a")
    assert data["format"] == "adgen-artifact"
    assert data["version"] == 1
    assert data["adgen"] == "0.1"
    assert data["source"] == {"name": "a.cu", "sha256": "ab" * 32}
    assert data["entries"] == json.loads(json.dumps([asdict(entry) for entry in ENTRIES]))
    assert set(data["binaries"]["openmp"]) == {"library", "sha256", "cpu"}
    assert set(data["binaries"]["cuda"]["sm_90"]) == {"cubin", "ptx", "sha256", "blocks", "toolkit"}


@given(st.from_type(Entry))
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_any_entry_survives_json(entry: Entry) -> None:
    assert decode(Entry, json.loads(json.dumps(asdict(entry)))) == entry


@given(JSON)
@QUICK
def test_any_other_json_is_an_error(tmp_path: Path, data: object) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(ArtifactError):
        read(tmp_path)


@given(st.data(), JSON)
@QUICK
def test_a_manifest_with_any_part_replaced(tmp_path: Path, data: st.DataObject, replacement: object) -> None:
    folder = tmp_path / "a"
    if not folder.exists():
        write(folder, sample())
        (tmp_path / "original").write_bytes((folder / "manifest.json").read_bytes())
    manifest = json.loads((tmp_path / "original").read_text())
    place = manifest
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = replacement
    (folder / "manifest.json").write_text(json.dumps(manifest))
    try:
        assert isinstance(read(folder), Artifact)
    except ArtifactError as error:
        assert str(folder) in error.reason  # noqa: PT017  (both outcomes are right)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"format": "adgen-artifact"}', "1" * 5000, "\ud800".encode("utf-8", "surrogatepass")],
    ids=["empty", "cut", "deep", "no version", "long number", "no UTF-8"],
)
def test_files_that_are_no_manifest(tmp_path: Path, text: str | bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ArtifactError):
        read(tmp_path)


def test_truncated_anywhere(tmp_path: Path) -> None:
    write(tmp_path / "a", sample())
    path = tmp_path / "a" / "manifest.json"
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtifactError):
            read(tmp_path / "a")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m.update(version=2), "version 2; this adgen reads version 1"),
        (lambda m: m.update(version=True), "version True"),
        (lambda m: m.update(format="zip"), "not the manifest"),
        (lambda m: m.pop("entries"), "key 'entries' is missing"),
        (lambda m: m.update(extra=1), "unknown key 'extra'"),
        (lambda m: m["entries"][0]["signature"].update(kind="method"), r"entries\[0\].signature.kind: expected one of"),
        (lambda m: m["entries"][0]["targets"].update(tpu={}), "targets"),
        (lambda m: m["binaries"]["openmp"].update(library="../a.so"), "outside"),
        (lambda m: m["binaries"]["openmp"].update(library="b.so"), "b.so is missing"),
        (lambda m: m["binaries"]["cuda"].update(gfx90={"cubin": "", "ptx": "", "sha256": ""}), "no GPU architecture"),
    ],
)
def test_damage_is_named(tmp_path: Path, change: Any, match: str) -> None:  # noqa: ANN401
    write(tmp_path / "a", sample())
    manifest = manifest_of(tmp_path / "a")
    change(manifest)
    (tmp_path / "a" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match=match):
        read(tmp_path / "a")


def test_missing_folder_and_binary(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"there is no .*nowhere"):
        read(tmp_path / "nowhere")
    write(tmp_path / "a", sample())
    (tmp_path / "a" / "a.so").unlink()
    with pytest.raises(ArtifactError, match=r"a\.so is missing"):
        read(tmp_path / "a")


def test_changed_binary(tmp_path: Path) -> None:
    artifact = write(tmp_path / "a", sample())
    (artifact.folder / "a.so").write_bytes(b"hos")
    (artifact.folder / "a.sm_90.cubin").write_bytes(b"cubix")
    with pytest.raises(ArtifactError, match="not the file that was compiled"):
        artifact.library()
    with pytest.raises(ArtifactError, match="not the file that was compiled"):
        artifact.cubin("sm_90")


def test_an_artifact_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "a", sample())
    write(tmp_path / "a", sample(adgen="0.2", files={"b.so": b"new"}, library="b.so", cuda={}))
    artifact = read(tmp_path / "a")
    assert artifact.manifest.adgen == "0.2"
    assert names_in(tmp_path / "a") == ["b.so", "manifest.json"]
    assert leftovers(tmp_path) == []


def test_readers_beside_writers_see_whole_artifacts(tmp_path: Path) -> None:
    write(tmp_path / "a", sample())
    failures: list[Exception] = []

    def rewrite() -> None:
        try:
            for _ in range(15):
                write(tmp_path / "a", sample())
        except Exception as error:  # noqa: BLE001  (a thread must not lose its failure)
            failures.append(error)

    writers = [threading.Thread(target=rewrite) for _ in range(2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert read(tmp_path / "a").library().read_bytes() == b"host"
    for writer in writers:
        writer.join()
    assert failures == []
    assert leftovers(tmp_path) == []


def test_replaced_where_the_file_system_cannot_swap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enzyme_driver.artifact._EXCHANGE", 1 << 20)  # a flag that the kernel refuses with EINVAL
    write(tmp_path / "a", sample())
    write(tmp_path / "a", sample(adgen="0.2"))
    assert read(tmp_path / "a").manifest.adgen == "0.2"
    assert leftovers(tmp_path) == []


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    write(mine, sample())
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    with pytest.raises(CacheError, match="no adgen artifact"):
        write(foreign, sample())
    with pytest.raises(CacheError, match="no adgen artifact"):
        write(foreign / "thesis.tex", sample())
    assert (foreign / "thesis.tex").read_text() == "years of work"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    before = write(tmp_path / "a", sample())
    with pytest.raises(CacheError, match="cannot be written"):
        write(tmp_path / "a", sample(files={"a.so": tmp_path / "missing.so"}))
    assert read(tmp_path / "a") == before
    assert leftovers(tmp_path) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="cannot be written"):
        write(tmp_path / "file" / "a", sample())


def test_manifest_can_be_decoded_from_its_own_data(tmp_path: Path) -> None:
    artifact = write(tmp_path / "a", sample())
    assert decode(Manifest, manifest_of(tmp_path / "a")) == artifact.manifest
