"""Installations that go wrong, with the real pip on a server of the test's own: one message, nothing half-written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cli_support import Adgen

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain

NAME = "pennylane_catalyst-0.15.0-cp311-cp311-manylinux_2_28_x86_64.whl"
MEMBER = "pennylane_catalyst-0.15.0.data/data/bin/catalyst"
METADATA = "Metadata-Version: 2.1\nName: pennylane-catalyst\nVersion: 0.15.0\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-manylinux_2_28_x86_64\n"
NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there."""

INSTALL = """\
import sys
from dataclasses import replace
from pathlib import Path
from enzyme_driver import cli, command
from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import wheels
from enzyme_driver.toolchain.enzyme import PINNED
from enzyme_driver.toolchain.progress import OnStderr

wheel, member = sys.argv[1:3]
pin = replace(PINNED, wheel_sha256=wheel, members=(replace(PINNED.members[0], sha256=member),))
try:
    print(wheels.take(Settings.from_environment(), pin, command.run, OnStderr()))
except Exception as problem:
    sys.exit(cli.output.failure(cli._as_own_error(problem), as_json=True))
"""
"""What `adgen toolchain install` does for one pinned wheel, and says where that fails."""


@dataclass
class Registry:
    """A registry on this machine that has one small wheel."""

    wheel: bytes
    wheel_sha256: str
    member_sha256: str
    sent: int | None = None
    """So many bytes of the wheel are sent before the line breaks; all by default."""

    downloads: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        page = f'<a href="/{NAME}">{NAME}</a>'.encode()
        is_wheel = request.path.endswith(".whl")
        body = self.wheel if is_wheel else page
        request.send_response(200)
        request.send_header("Content-Type", "application/zip" if is_wheel else "text/html")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if is_wheel:
            self.downloads.append(request.path)
        request.wfile.write(body[: self.sent] if is_wheel else body)
        if is_wheel and self.sent is not None:
            request.connection.close()


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    content = os.urandom(4 << 20)
    file = tmp_path / NAME
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(MEMBER, content)
        archive.writestr("pennylane_catalyst-0.15.0.dist-info/METADATA", METADATA)
        archive.writestr("pennylane_catalyst-0.15.0.dist-info/WHEEL", WHEEL)
    found = Registry(
        file.read_bytes(), hashlib.sha256(file.read_bytes()).hexdigest(), hashlib.sha256(content).hexdigest()
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass(frozen=True)
class Newcomer:
    """Who installs, with a home of their own, from that registry and no other."""

    home: Path
    registry: Registry
    temporary: Path

    def start(self, *before: str, **variables: str) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.lower().startswith(("pip_", "http"))}
        of_pip = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": f"{self.registry.address}/simple",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_RETRIES": "1",
        }
        folders = {"ADGEN_HOME": str(self.home), "TMPDIR": str(self.temporary)}
        wanted = (self.registry.wheel_sha256, self.registry.member_sha256)
        return subprocess.Popen(
            [*before, sys.executable, "-c", INSTALL, *wanted],
            env={**kept, **of_pip, **folders, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def fails(self, *before: str, **variables: str) -> str:
        """What is said, in one message; the exit code is that of the toolchain, and nothing is left behind."""
        with self.start(*before, **variables) as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 6, out + err
        assert "Traceback" not in err
        said = json.loads(out)
        assert said["exit_code"] == 6
        assert said["hint"]
        assert self.left == set()
        return str(said["reason"] + "\n" + said["hint"])

    @property
    def left(self) -> set[str]:
        """All that lies in the home, but for what was locked and what tools have said."""
        found = {path.name for path in self.home.rglob("*")} if self.home.is_dir() else set()
        return {*found, *(path.name for path in self.temporary.iterdir())} - {"enzyme", ".lock", "install.log"}


@pytest.fixture
def newcomer(registry: Registry, tmp_path: Path) -> Newcomer:
    (tmp_path / "tmp").mkdir()
    return Newcomer(tmp_path / "home", registry, tmp_path / "tmp")


def test_what_is_sent_whole_is_taken(newcomer: Newcomer) -> None:
    with newcomer.start() as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert newcomer.left == {"0.15.0", "catalyst"}
    assert Path(out.strip()).is_dir()


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_that_refuses(newcomer: Newcomer, variable: str) -> None:
    said = newcomer.fails(**{variable: NOWHERE, "NO_PROXY": ""})
    assert "pip could not download pennylane-catalyst 0.15.0" in said
    assert "port=9" in said
    assert "Connection refused" in said
    assert "adgen toolchain install" in said


def test_no_network(newcomer: Newcomer) -> None:
    said = newcomer.fails(PIP_INDEX_URL=f"{NOWHERE}/simple")
    assert "Connection refused" in said
    assert "check the network" in said


def test_a_wheel_that_is_half_downloaded(newcomer: Newcomer) -> None:
    newcomer.registry.sent = 1 << 20
    said = newcomer.fails(PIP_RESUME_RETRIES="0")
    assert "pip could not download pennylane-catalyst 0.15.0" in said
    newcomer.registry.sent = None
    with newcomer.start() as process:
        assert process.wait(timeout=60) == 0


def test_a_wheel_of_other_content(newcomer: Newcomer) -> None:
    newcomer.registry.wheel_sha256 = "0" * 64
    assert "DO NOT MATCH THE HASHES" in newcomer.fails()


def test_a_file_of_other_content(newcomer: Newcomer) -> None:
    newcomer.registry.member_sha256 = "0" * 64
    assert "has the digest" in newcomer.fails()


def alone(setup: str, *words: str) -> list[str]:
    """The words that run a command behind `setup`, whose mounts that command alone sees."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare")
    as_root = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    found = [unshare, *as_root, "--mount", "sh", "-c", setup, *words]
    if subprocess.run([unshare, *as_root, "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine does not allow to mount")
    return found


def on_small_disk(folder: Path, size: str) -> list[str]:
    """The words that run a command where the folder is a file system of so many bytes, and say what is left in it."""
    folder.mkdir(exist_ok=True)
    after = f'mount -t tmpfs -o size={size} tmpfs "$0" && "$@"; code=$?; ls -A "$0"/enzyme >&2; exit $code'
    return alone(after, str(folder))


@pytest.mark.parametrize("size", ["1m", "6m"], ids=["the download does not fit", "what is unpacked does not fit"])
def test_a_full_disk(newcomer: Newcomer, size: str) -> None:
    words = on_small_disk(newcomer.home, size)
    with newcomer.start(*words) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 6, out + err
    said = json.loads(out)
    assert "No space left on device" in said["reason"] + said["hint"]
    assert "ADGEN_HOME" in said["hint"]
    assert [line for line in err.splitlines() if line and not line.startswith("adgen:")] == [".lock"]


def test_a_home_that_can_only_be_read(newcomer: Newcomer) -> None:
    said = newcomer.fails(ADGEN_HOME="/proc/adgen")
    assert "/proc/adgen" in said
    assert "set ADGEN_HOME" in said
    assert newcomer.registry.downloads == []


def test_two_at_once_download_once(newcomer: Newcomer) -> None:
    with newcomer.start() as first, newcomer.start() as second:
        said = [process.communicate(timeout=60) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], said
    assert said[0][0] == said[1][0]
    assert len(newcomer.registry.downloads) == 1
    assert newcomer.left == {"0.15.0", "catalyst"}


def hidden(*folders: str) -> list[str]:
    return alone("".join(f"mount -t tmpfs tmpfs {folder} && " for folder in folders) + '"$0" "$@"')


@pytest.mark.parametrize("name", ["kernels.cu", "functions.cpp"])
def test_no_headers_of_the_system(tmp_path: Path, toolchain: Toolchain, name: str) -> None:
    user = Adgen(tmp_path / "user")
    assert toolchain.clang.path.is_file()
    argv = [*hidden("/usr/include"), sys.executable, "-m", "enzyme_driver"]
    done, asked = (
        subprocess.run(
            [*argv, *words], cwd=user.folder, env=user.environment, capture_output=True, text=True, check=False
        )
        for words in (("compile", name), ("doctor",))
    )
    assert done.returncode == asked.returncode == 6, done.stderr
    for said in (done.stderr, asked.stdout):
        assert "this system lacks headers of C or C++" in said
        assert "libstdc++-12-dev" in " ".join(said.split())
    assert user.files == {"kernels.cu", "functions.cpp"}
    assert user.cached == []


@pytest.mark.usefixtures("toolchain")
def test_an_installation_that_can_only_be_read_compiles(tmp_path: Path, machine_settings: Settings) -> None:
    """An administrator's: everything is there, the user may change none of it."""
    user, home = Adgen(tmp_path / "user"), str(machine_settings.home)
    argv = alone('mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && "$@"', home)
    argv += [sys.executable, "-m", "enzyme_driver", "compile", "kernels.cu", "-k", "scale"]
    done = subprocess.run(argv, cwd=user.folder, env=user.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
