"""Set-up installs missing packages: the table of tools, and the script that reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import tools

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
ROWS = list(tools.rows())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the script for a table of the test, and a PATH with few programs."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "scripts/packages.sh", tmp_path / "scripts")
    for name in ("bash", "uname", "id", "env", "cc", "python3", "ldd"):
        link(tmp_path, name)
    return tmp_path


def link(folder: Path, name: str) -> None:
    found = shutil.which(name)
    assert found is not None
    (folder / "bin" / name).symlink_to(Path(found).resolve() if name == "python3" else found)


def script(folder: Path, name: str, text: str) -> None:
    path = folder / "bin" / name
    path.unlink(
        missing_ok=True
    )  # so that no program of this machine is overwritten through a symlink
    path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
    path.chmod(0o755)


def packages(folder: Path, *words: str, table: str = "") -> subprocess.CompletedProcess[str]:
    if table:
        (folder / "scripts/tools.txt").write_text(table)
    return subprocess.run(
        ["bash", folder / "scripts/packages.sh", *words],
        env={"PATH": f"{folder}/bin", "INTERLUDE_OS_RELEASE": str(folder / "os-release")},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def missing(folder: Path, *roles: str, table: str = "") -> list[str]:
    done = packages(folder, "--missing", *roles, table=table)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


# ── the table ────────────────────────────────────────────────────────────────────────────────
def test_every_row_has_known_roles_and_kinds() -> None:
    roles = {role.partition("@")[0] for row in ROWS for role in row.roles}
    kinds = {thing.partition(":")[0] for row in ROWS for thing in row.things if ":" in thing}
    assert roles == set(tools.ROLES)
    assert kinds <= set(tools.KINDS)


def test_no_program_is_in_two_packages() -> None:
    for name, package in tools.commands(*tools.ROLES).items():
        rows = {row.package for row in ROWS if name in row.commands}
        assert rows == {package}, name


def test_a_line_with_too_few_columns_is_named(tmp_path: Path) -> None:
    table = tmp_path / "tools.txt"
    table.write_text("# a comment\n\ncat  coreutils  test  for cats\ndog  animals  test\n")
    with pytest.raises(ValueError, match=r"tools\.txt:4"):
        list(tools.rows(table))


def test_every_make_verb_sets_up_for_known_roles() -> None:
    makefile = (ROOT / "Makefile").read_text()
    verbs = dict(re.findall(r"^([a-z-]+): setup((?:-[a-z]+)*) ##", makefile, re.MULTILINE))
    roles_of = {verb: set(roles.split("-")[1:]) for verb, roles in verbs.items()}
    assert roles_of == {
        "demo": set(), "run": set(), "docs": {"check"}, "format": {"check"}, "test": {"test"},
        "check": {"check"}, "bench": {"bench"}, "release": {"release"}, "image": {"image"},
        "test-boxes": {"boxes"}, "test-image": {"boxes", "image"}, "test-shuffled": {"test"},
        "voices": {"release"},
    }  # fmt: skip
    assert set().union(*roles_of.values()) <= set(tools.ROLES)


def test_continuous_integration_installs_what_make_needs_and_nothing_else() -> None:
    text = (ROOT / ".ci/run").read_text()
    assert set(re.findall(r"missing\+=\(([^)]*)\)", text)) == {"make", "git", "python3"}
    assert re.findall(r"install -y (.*?)(?: >|$)", text) == [
        '--no-install-recommends "${missing[@]}"'
    ]


# ── the script ───────────────────────────────────────────────────────────────────────────────
def test_only_missing_packages_are_listed_and_each_once(folder: Path) -> None:
    table = "# dogs\ndog animals setup barks\n\ncat,dog animals setup x\nuname coreutils setup x\n"
    assert missing(folder, table=table) == ["animals"]
    script(folder, "dog", "")
    script(folder, "cat", "")
    assert missing(folder) == []


def test_a_row_with_several_things_needs_all_of_them(folder: Path) -> None:
    assert missing(folder, table="uname,id coreutils setup x\n") == []
    assert missing(folder, table="uname,dog coreutils setup x\n") == ["coreutils"]


@pytest.mark.parametrize(
    ("there", "not_there"),
    [
        ("python3", "python4"),
        ("python:ensurepip", "python:no_such_module"),
        ("header:stdio.h", "header:no/such.h"),
        ("header:Python.h", "header:Python4.h"),
        ("library:libc.so.6", "library:libno-such.so.1"),
        ("file:/proc/self", "file:/no/such/file"),
        ("ldconfig", "no-such-command"),  # found in /usr/sbin, which is not on this PATH
    ],
)
def test_each_kind_of_thing_has_its_own_check(folder: Path, there: str, not_there: str) -> None:
    assert missing(folder, table=f"{there} p setup x\n{not_there} q setup x\n") == ["q"]


def test_a_static_program_must_be_statically_linked(folder: Path) -> None:
    source = folder / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    for name, *options in (("still", "-static"), ("moving",)):
        subprocess.run(["cc", *options, "-o", folder / "bin" / name, source], check=True)
    table = "static:still p setup x\nstatic:moving q setup x\nstatic:absent r setup x\n"
    assert missing(folder, table=table) == ["q", "r"]


def test_a_row_applies_to_its_roles_and_machine_types(folder: Path) -> None:
    script(folder, "uname", "echo aarch64")
    table = "a a test x\nb b check,test x\nc c boxes@x86_64 x\nd d boxes@aarch64,image x\n"
    assert missing(folder, "test", table=table) == ["a", "b"]
    assert missing(folder, "check") == ["b"]
    assert missing(folder, "boxes") == ["d"]
    assert missing(folder, "image", "check") == ["b", "d"]
    assert missing(folder) == []


@pytest.mark.parametrize("role", tools.ROLES)
def test_the_script_and_python_read_the_same_table(folder: Path, role: str) -> None:
    lines = [f"no-such-thing {row.package} {','.join(row.roles)} {row.why}" for row in ROWS]
    wanted = dict.fromkeys(row.package.partition("|")[0] for row in ROWS if row.is_for(role))
    assert missing(folder, role, table="\n".join(lines) + "\n") == list(wanted)


def test_a_machine_with_only_a_shell_gets_the_full_list(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "scripts").mkdir()
    for name in ("bash", "uname"):
        link(tmp_path, name)
    for name in ("packages.sh", "tools.txt"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    listed = missing(tmp_path, "setup", "test")
    assert {"python3", "python3-venv", "python3-dev", "build-essential", "libasound2-dev",
            "espeak-ng", "shellcheck", "alsa-utils"} <= set(listed)  # fmt: skip


def test_missing_packages_are_installed_with_one_apt_call(folder: Path) -> None:
    script(folder, "sudo", 'exec "$@"')
    script(folder, "apt-get", f'echo "$@" >>{folder}/asked')
    table = "dog animals setup barks\npiano instruments setup,test sounds\npython3 p setup x\n"
    done = packages(folder, "setup", "test", table=table)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ +animals +barks$", done.stdout, re.MULTILINE)
    update, install = (folder / "asked").read_text().splitlines()
    assert update.endswith(" update")
    assert install.endswith("install -y --no-install-recommends animals instruments")


BROWSER = "file:/no/browser|/nor/this small|large setup browses\npython3 p setup x\n"


@pytest.mark.parametrize(
    ("system", "available", "installed"),
    [
        ("debian", "small large", ["small"]),
        ("debian", "large", ["large"]),
        ("debian", "", ["small"]),  # apt-get says why not
        ("ubuntu", "large", ["large"]),
        ("ubuntu", "", []),
    ],
)
def test_the_first_of_several_packages_that_can_be_installed_is(
    folder: Path, system: str, available: str, installed: list[str]
) -> None:
    (folder / "os-release").write_text(f"NAME=x\nID={system}\n")
    script(folder, "sudo", 'exec "$@"')
    simulated = f'[ "$2" != -s ] || {{ [[ " {available} " == *" $4 "* ]]; exit; }}'
    script(folder, "apt-get", f'{simulated}\necho "$@" >>{folder}/asked')
    assert missing(folder, table=BROWSER) == ["small"]
    done = packages(folder)
    assert done.returncode == 0, done.stderr
    asked = folder / "asked"
    calls = asked.read_text().splitlines() if asked.exists() else []
    assert [line.split()[-1] for line in calls if " install " in line] == installed
    assert ("no package small or large: browses" in done.stderr) == (not installed)


def test_without_root_and_sudo_one_of_several_packages_is_named(folder: Path) -> None:
    script(folder, "id", "echo 1000")
    script(folder, "apt-get", '[ "$4" = large ]')
    done = packages(folder, table=BROWSER)
    assert done.returncode == 77
    assert "apt-get install --no-install-recommends large\n" in done.stderr


def test_without_root_a_package_that_nobody_has_is_no_failure(folder: Path) -> None:
    script(folder, "id", "echo 1000")
    done = packages(folder, table=BROWSER)
    assert (done.returncode, done.stdout) == (0, "")
    assert "no package small or large: browses" in done.stderr


def test_a_row_with_several_files_needs_one_of_them(folder: Path) -> None:
    assert missing(folder, table="file:/no/such|/proc/self p|q setup x\n") == []


def test_apt_is_not_called_if_nothing_is_missing(folder: Path) -> None:
    script(folder, "apt-get", f'echo "$@" >>{folder}/asked')
    done = packages(folder, "setup", table="python3 p setup x\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert not (folder / "asked").exists()


def test_a_machine_without_apt_gets_the_list_of_packages(folder: Path) -> None:
    done = packages(folder, table="dog animals setup barks\n")
    assert done.returncode == 69
    assert "animals" in done.stdout
    assert "no Debian" in done.stderr
