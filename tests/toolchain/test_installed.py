"""adgen as pip installs it: the same bytes from any folder, in folders of any name; artifacts that load anywhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from cli_support import KERNELS

from enzyme_driver.settings import Settings
from enzyme_driver.toolchain import Toolchain

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".*", "build", "dist", "node_modules", "__pycache__", "*.egg-info")

LOADED = """\
import sys

class Nowhere:
    \"\"\"Refuses what only compiles, and what Windows or macOS has not.\"\"\"
    refused = {"fcntl", "resource", "pwd", "grp", "llvmlite", "filelock", "click", "rich", "jinja2"}

    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] in self.refused or parts[:2] in (["enzyme_driver", "toolchain"], ["enzyme_driver", "stages"]):
            raise ImportError(f"{name} is not to be had here")

sys.meta_path.insert(0, Nowhere())
for name in Nowhere.refused:
    sys.modules.pop(name, None)
import adgen

module = adgen.load(sys.argv[1], target="cuda")
print(module.scale.signature)
try:
    import numpy
    module.scale[1, 2](*[numpy.zeros(2, numpy.float32)] * 2, 2)
except adgen.AdgenError as error:
    print(type(error).__name__, error)
"""


def built(source: Path, out: Path) -> dict[str, str]:
    """The digests of wheel and sdist that are built there."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(out)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, in a folder whose name is no plain word."""
    folder = tmp_path_factory.mktemp("sources") / "eine Kopie für Müller"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel without compiled code, for any platform."""
    out = tmp_path_factory.mktemp("dist")
    built(checkout, out)
    return next(out.glob("*.whl"))


def test_wheel_and_sdist_are_the_same_bytes_from_any_folder(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    first = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in wheel.parent.iterdir()}
    assert sorted(name.rpartition(".")[2] for name in first) == ["gz", "whl"]
    again = tmp_path / "again"
    shutil.copytree(checkout, again)
    for number, path in enumerate(sorted(again.rglob("*.py"))):
        os.utime(path, (number, number))
    umask = os.umask(0o077)
    try:
        assert built(again, tmp_path / "dist") == first
    finally:
        os.umask(umask)
    (again / "README.md").write_text("changed")
    assert built(again, tmp_path / "changed") != first


def test_without_compiled_code_a_wheel_is_for_any_platform(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip makes of it, in a folder whose name has a space and letters that are not of ASCII."""
    folder = tmp_path_factory.mktemp("installed") / "Pakete für Ω"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*command, str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def test_a_path_of_any_letters(
    installed: Path, toolchain: Toolchain, machine_settings: Settings, tmp_path: Path
) -> None:
    """adgen, its data, its cache and the user's file all lie in such folders."""
    home, user = tmp_path / "Daten für Ω", tmp_path / "mein Ordner é"
    (home / "build").mkdir(parents=True)
    (home / "build" / "objects").symlink_to(toolchain.passes.parent.parent / "objects")
    for room in ("enzyme", "openmp"):
        (home / room).symlink_to(machine_settings.home / room)
    user.mkdir()
    (user / "kërnel.cu").write_text("#define FACTOR 2\n" + KERNELS)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(installed), sysconfig.get_path("purelib")]),
        "ADGEN_HOME": str(home),
        "ADGEN_CACHE_DIR": str(tmp_path / "Zwischen speicher ü"),
    }
    code = (
        "import numpy as np, adgen; assert 'für' in adgen.__file__, adgen.__file__\n"
        "kernel = adgen.compile('kërnel.cu', kernel='scale')\n"
        "x, y, one = np.array([0.5, 2], np.float32), np.zeros(2, np.float32), np.ones(2, np.float32)\n"
        "found = kernel.vjp[1, 2](x, y, 2, cotangents={'y': one}, wrt=('x',))['x']\n"
        "assert np.allclose(found, 2 * (np.sin(x) + x * np.cos(x)), rtol=1e-5), found\n"
    )
    for argv in (["-c", code], ["-m", "adgen", "compile", "kërnel.cu", "-k", "scale", "-t", "cuda", "-o", "gemacht ü"]):
        done = subprocess.run(
            [sys.executable, *argv], cwd=user, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (user / "gemacht ü" / "manifest.json").is_file()


@pytest.mark.usefixtures("toolchain")
def test_code_for_a_gpu_is_loaded_where_nothing_can_be_compiled(installed: Path, tmp_path: Path) -> None:
    """Python, NumPy and a driver are enough; a launch asks for arrays on the GPU."""
    (tmp_path / "k.cu").write_text("#define FACTOR 2\n" + KERNELS)
    compile_it = [sys.executable, "-m", "enzyme_driver", "compile", "k.cu", "-k", "scale", "-t", "cuda", "-o", "made"]
    subprocess.run(compile_it, cwd=tmp_path, check=True, capture_output=True)
    environment = {
        "PATH": "/nowhere",
        "HOME": str(tmp_path / "home"),
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONPATH": os.pathsep.join([str(installed), sysconfig.get_path("purelib")]),
    }
    argv = [sys.executable, "-S", "-c", LOADED, str(tmp_path / "made")]
    done = subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    signature, error = done.stdout.split("\n", 1)
    assert signature.startswith("scale(const float32 *x, float32 *y")
    assert "copy it to the GPU first" in error
    assert not (tmp_path / "home").exists()
