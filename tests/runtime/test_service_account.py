"""A box's commands work on the service's state and as its user; a checkout's as they always did."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.__main__ import parser
from appliance.errors import NotAllowed
from appliance.runtime.service_account import NOWHERE, PATH, RunsAs, ServiceAccount
from appliance.settings import load
from tests import skips
from tests.package import copy_package

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
ME = os.geteuid()


def user(uid: int, *names: str) -> Callable[[str], pwd.struct_passwd]:
    """A system with these users, all of that number."""

    def entry(name: str) -> pwd.struct_passwd:
        if name not in names:
            raise KeyError(name)
        return pwd.struct_passwd((name, "x", uid, uid, "", "/var/lib/interlude", "/bin/false"))

    return entry


def box(tmp_path: Path, environment: dict[str, str], uid: int = ME) -> ServiceAccount:
    code = tmp_path / "releases/0.4.0/lib/appliance/service.py"
    state = tmp_path / "state"
    users = user(uid, "interlude", "interlude-model")
    return ServiceAccount(code, tmp_path / "releases", state, users, environment)


def test_a_checkout_changes_nothing() -> None:
    environment: dict[str, str] = {}
    ServiceAccount(environment=environment).enter("box")
    assert environment == {}
    assert os.geteuid() == ME


@pytest.mark.parametrize("runs_as", ["caller", "box", "model"])
def test_an_empty_environment_finds_the_services_state(tmp_path: Path, runs_as: RunsAs) -> None:
    environment: dict[str, str] = {}
    here = box(tmp_path, environment)
    here.enter(runs_as)
    assert environment["STATE_DIRECTORY"] == str(tmp_path / "state")
    assert environment["PATH"] == PATH


def test_a_shell_of_somebodys_own_finds_it_too_and_none_of_their_settings(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    environment = {"HOME": "/home/me", "XDG_STATE_HOME": "/mine", "XDG_CONFIG_HOME": "/mine",
                   "XDG_RUNTIME_DIR": "/run/user/0", "PATH": "/bin"}  # fmt: skip
    box(tmp_path, environment).enter("box")
    assert environment["XDG_CONFIG_HOME"] == str(tmp_path / "state/.config")
    assert not {"XDG_STATE_HOME", "XDG_RUNTIME_DIR"} & environment.keys()
    assert environment["PATH"] == "/bin"


def test_who_stays_root_takes_no_settings_from_the_services_folder(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": "/mine"}
    box(tmp_path, environment).enter("caller")
    assert environment["XDG_CONFIG_HOME"] == NOWHERE
    assert not Path(NOWHERE).exists()


def test_what_systemd_says_of_the_folder_counts(tmp_path: Path) -> None:
    environment = {"STATE_DIRECTORY": "/data/elsewhere"}
    box(tmp_path, environment).enter("box")
    assert environment["STATE_DIRECTORY"] == "/data/elsewhere"


def test_a_command_has_the_passwords_that_systemd_gave_to_the_running_service(
    tmp_path: Path,
) -> None:
    environment: dict[str, str] = {}
    given = replace(box(tmp_path, environment), credentials=tmp_path / "credentials")
    given.enter("box")
    assert "CREDENTIALS_DIRECTORY" not in environment  # it does not run
    given.credentials.mkdir()
    given.enter("caller")
    assert "CREDENTIALS_DIRECTORY" not in environment
    given.enter("box")
    assert environment["CREDENTIALS_DIRECTORY"] == str(given.credentials)


def test_a_system_without_that_user_says_so(tmp_path: Path) -> None:
    here = ServiceAccount(tmp_path / "releases/x", tmp_path / "releases", tmp_path, user(1), {})
    with pytest.raises(NotAllowed, match="no user interlude, as which"):
        here.enter("box")


# Imports come first: who it becomes may not read where this machine keeps its Python.
TYPED = """
import json, os, sys
from pathlib import Path
from appliance import settings
from appliance.errors import InterludeError
from appliance.dialog.memory import Memory, RememberedTurn
from appliance.runtime.memory_files import path
from tests.runtime.test_service_account import box
become, runs_as, uid, *files = sys.argv[1:]
tmp = Path(become)
here = box(tmp, os.environ, int(uid))
try:
    here.enter(runs_as, [Path(file) for file in files])
except InterludeError as error:
    sys.exit(f"{type(error).__name__}: {error}")
mine = settings.load(None)
memory = Memory(path(mine), 10)
memory.remember(RememberedTurn("now", 1, "", 1.0, "words", True, "pocket"))
print(json.dumps([os.getresuid(), os.getresgid(), os.getgroups(), str(path(mine)),
                  os.environ["HOME"]]))
"""


def typed(
    tmp_path: Path, runs_as: RunsAs, *files: Path, uid: int = 12345
) -> subprocess.CompletedProcess[str]:
    """As root, with an empty environment."""
    return subprocess.run(
        [sys.executable, "-c", TYPED, str(tmp_path), runs_as, str(uid), *map(str, files)],
        cwd=tmp_path / "checkout", env={}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def readable_checkout(tmp_path: Path) -> None:
    """The package where every user can read it: a checkout below /root is root's alone."""
    copy_package(tmp_path / "checkout")
    (tmp_path / "checkout/tests/runtime").mkdir(parents=True)
    for name in ("runtime/test_service_account.py", "package.py", "skips.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "checkout/tests" / name)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A box's folders, of user 12345; pytest's own are root's alone."""
    if ME != 0:
        pytest.skip(skips.ROOT_RIGHTS)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    (tmp_path / "state").mkdir()
    os.chown(tmp_path / "state", 12345, 12345)
    readable_checkout(tmp_path)
    return tmp_path


def test_who_fetches_models_looks_for_nothing_in_the_services_folder(shared: Path) -> None:
    """The hub's library reads a token below HOME, and stops where it may not
    (image/test/test_fleet_models.py)."""
    code = """
import os, sys
from pathlib import Path
from tests.runtime.test_service_account import box
box(Path(sys.argv[1]), os.environ, 4321).enter(sys.argv[2])
print(os.getuid(), os.environ["HOME"])
"""
    for runs_as, home in (("model", "/"), ("box", str(shared / "state"))):
        done = subprocess.run(
            [sys.executable, "-c", code, str(shared), runs_as],
            cwd=shared / "checkout", env={}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == (f"4321 {home}\n", "")


def test_a_user_who_may_not_look_into_the_services_folder_reads_the_systems_settings(
    shared: Path,
) -> None:
    (shared / "state").chmod(0o700)
    code = """
import os, sys
from pathlib import Path
from appliance.settings import owner_file
from tests.runtime.test_service_account import box
here = box(Path(sys.argv[1]), os.environ, 12345)
os.setuid(4321)
here.enter("caller")
print(owner_file())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(shared)],
        cwd=shared / "checkout", env={}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_what_root_types_is_done_by_the_services_user_who_cannot_go_back(shared: Path) -> None:
    done = typed(shared, "box")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[[12345, 12345, 12345], [12345, 12345, 12345], [")
    assert f'"{shared}/state/memory/memory.db", "{shared}/state"]' in done.stdout
    owners = {(p.stat().st_uid, p.stat().st_gid) for p in (shared / "state").rglob("*")}
    assert owners == {(12345, 12345)}, "nothing of root's is left behind"


def test_who_fetches_models_has_a_home_that_holds_nothing_and_can_be_looked_into(
    shared: Path,
) -> None:
    """A library that looks for its files there would be refused, and with it every fetch."""
    done = typed(shared, "model")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith('"/"]\n')


def test_a_file_that_only_root_can_read_is_named_with_what_to_do(shared: Path) -> None:
    private, open_to_all = shared / "private", shared / "open.yaml"
    private.mkdir(mode=0o700)
    (private / "words.yaml").touch()
    open_to_all.touch(mode=0o644)
    assert typed(shared, "box", open_to_all, shared / "none.yaml").returncode == 0
    refused = typed(shared, "box", private / "words.yaml")
    assert refused.returncode == 1
    assert "words.yaml cannot be read by the box's own user, interlude" in refused.stderr
    assert "Copy it to where everybody may read" in refused.stderr
    assert typed(shared, "box", private).returncode == 1, "a folder, too"


def test_somebody_else_is_told_to_ask_as_root(shared: Path) -> None:
    words = [sys.executable, "-c", TYPED.replace("here.enter", "os.setuid(4321); here.enter"),
             str(shared), "box", "12345"]  # fmt: skip
    done = subprocess.run(
        words, cwd=shared / "checkout", env={}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "NotAllowed: That is for the box's own user, interlude. Put `sudo`" in done.stderr


@pytest.mark.parametrize(
    ("words", "runs_as"),
    [
        ("run", "box"), ("say hello", "box"), ("ask hello", "box"), ("stop", "box"),
        ("mute on", "box"), ("volume 40", "box"), ("mode open", "box"), ("check", "box"),
        ("enrol", "box"), ("panel", "box"), ("light", "box"), ("memory show", "box"),
        ("memory forget", "box"),
        ("link remove", "box"), ("link add", "box"), ("models list", "model"),
        ("models fetch x", "model"), ("models verify", "model"), ("models bring", "model"),
        ("models give x y --most 1", "model"), ("models take x", "model"),
        ("status", "caller"), ("config", "caller"), ("demo", "caller"), ("bench", "caller"),
        ("rehearse x", "caller"), ("release list", "caller"), ("release ask", "caller"),
        ("system status", "caller"), ("system setup", "caller"),
    ],
)  # fmt: skip
def test_each_verb_runs_as_the_user_whose_state_it_touches(words: str, runs_as: RunsAs) -> None:
    assert parser().parse_args(words.split()).runs_as == runs_as


def test_the_state_is_found_by_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert load(None).state_path() == tmp_path
