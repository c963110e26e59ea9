"""The package as a stranger gets it: a wheel, a fresh environment, another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "stereometer"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.long
def test_a_wheel_holds_the_package_its_data_and_licences_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    ours = {name for name in names if name.startswith("stereometer/")}
    files = (file for file in PACKAGE.rglob("*") if file.is_file() and file.suffix != ".pyc")
    assert ours == {str(file.relative_to(PACKAGE.parent)) for file in files}
    about = {name.partition("/")[2] for name in names - ours}
    assert {"METADATA", "RECORD", "WHEEL", "entry_points.txt"} <= about
    vendored = {f"licenses/{file.relative_to(ROOT)}" for file in PACKAGE.rglob("LICENSE-*")}
    assert {name for name in about if "licenses/" in name} == {"licenses/LICENSE", *vendored}


@pytest.mark.long
def test_it_runs_in_a_fresh_environment_without_the_clone(wheel: Path, tmp_path: Path) -> None:
    """With the dependencies that it declares, in the versions of `make`, and no extras."""
    fresh = tmp_path / "fresh"
    venv.create(fresh, symlinks=os.name != "nt")
    environment = {name: of for name, of in os.environ.items() if name != "PYTHONPATH"}

    def do(*command: object) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    scripts = fresh / ("Scripts" if os.name == "nt" else "bin")
    python, program = scripts / "python", scripts / "stereometer"
    install = ("install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    do(sys.executable, "-m", "pip", "--python", python, *install)
    assert str(fresh) in do(python, "-c", "import stereometer; print(stereometer.__file__)")
    do(program, "run", "starter", "--model", "random", "--resamples", "100", "--out", "runs")
    do(program, "report", "runs", "-o", "report.html")
    assert "</html>" in (tmp_path / "report.html").read_text("utf-8")
