"""Installed commands use the service's state and user; a checkout's commands change neither."""

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
    """A user database with these names, all with `uid`."""

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


def test_a_command_of_a_checkout_changes_nothing() -> None:
    environment: dict[str, str] = {}
    ServiceAccount(environment=environment).enter("box")
    assert environment == {}
    assert os.geteuid() == ME


@pytest.mark.parametrize("runs_as", ["caller", "box", "model"])
def test_an_empty_environment_finds_the_services_state(tmp_path: Path, runs_as: RunsAs) -> None:
    environment: dict[str, str] = {}
    account = box(tmp_path, environment)
    account.enter(runs_as)
    assert environment["STATE_DIRECTORY"] == str(tmp_path / "state")
    assert environment["PATH"] == PATH


def test_a_login_shell_gets_the_services_state_and_no_settings_or_home_of_a_user(
    tmp_path: Path,
) -> None:
    (tmp_path / "state").mkdir()
    environment = {"HOME": "/home/me", "XDG_STATE_HOME": "/mine", "XDG_CONFIG_HOME": "/mine",
                   "XDG_RUNTIME_DIR": "/run/user/0", "PATH": "/bin"}  # fmt: skip
    box(tmp_path, environment).enter("box")
    assert environment["XDG_CONFIG_HOME"] == NOWHERE
    assert environment["HOME"] == NOWHERE, "ALSA and espeak-ng read files below it"
    assert not {"XDG_STATE_HOME", "XDG_RUNTIME_DIR"} & environment.keys()
    assert environment["PATH"] == "/bin"


def test_a_command_that_stays_root_reads_no_settings_of_the_service(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": "/mine"}
    box(tmp_path, environment).enter("caller")
    assert environment["XDG_CONFIG_HOME"] == NOWHERE
    assert not Path(NOWHERE).exists()


def test_the_state_folder_of_systemd_takes_precedence(tmp_path: Path) -> None:
    environment = {"STATE_DIRECTORY": "/data/elsewhere"}
    box(tmp_path, environment).enter("box")
    assert environment["STATE_DIRECTORY"] == "/data/elsewhere"


def test_a_command_gets_the_credentials_of_the_running_service(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    account = replace(box(tmp_path, environment), credentials=tmp_path / "credentials")
    account.enter("box")
    assert "CREDENTIALS_DIRECTORY" not in environment  # the service is not running
    account.credentials.mkdir()
    account.enter("caller")
    assert "CREDENTIALS_DIRECTORY" not in environment
    account.enter("box")
    assert environment["CREDENTIALS_DIRECTORY"] == str(account.credentials)


def test_a_missing_service_user_is_an_error(tmp_path: Path) -> None:
    account = ServiceAccount(tmp_path / "releases/x", tmp_path / "releases", tmp_path, user(1), {})
    with pytest.raises(NotAllowed, match="no user interlude, as which"):
        account.enter("box")


# Imports come first: the new user may not be able to read this machine's Python folder.
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
    """Run TYPED as root with an empty environment."""
    return subprocess.run(
        [sys.executable, "-c", TYPED, str(tmp_path), runs_as, str(uid), *map(str, files)],
        cwd=tmp_path / "checkout", env={}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def readable_checkout(tmp_path: Path) -> None:
    """Copy the package to where every user can read it: a checkout below /root is private."""
    copy_package(tmp_path / "checkout")
    (tmp_path / "checkout/tests/runtime").mkdir(parents=True)
    for name in ("runtime/test_service_account.py", "package.py", "skips.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "checkout/tests" / name)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A box's folders, owned by user 12345 and readable, unlike pytest's own."""
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


def test_the_model_user_has_no_home_in_the_services_folder(shared: Path) -> None:
    """The hub's library reads a token below HOME, and fails if it may not
    (image/test/test_fleet_models.py)."""
    code = """
import os, sys
from pathlib import Path
from tests.runtime.test_service_account import box
box(Path(sys.argv[1]), os.environ, 4321).enter(sys.argv[2])
print(os.getuid(), os.environ["HOME"])
"""
    for runs_as, home in (("model", "/"), ("box", NOWHERE)):
        done = subprocess.run(
            [sys.executable, "-c", code, str(shared), runs_as],
            cwd=shared / "checkout", env={}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.stdout, done.stderr) == (f"4321 {home}\n", "")


def test_a_user_without_access_to_the_services_folder_reads_the_system_settings(
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


def test_a_command_of_root_runs_as_the_service_user_without_a_way_back(shared: Path) -> None:
    done = typed(shared, "box")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[[12345, 12345, 12345], [12345, 12345, 12345], [")
    assert f'"{shared}/state/memory/memory.db", "{NOWHERE}"]' in done.stdout
    owners = {(p.stat().st_uid, p.stat().st_gid) for p in (shared / "state").rglob("*")}
    assert owners == {(12345, 12345)}, "no file is owned by root"


def test_the_home_of_the_model_user_is_readable(shared: Path) -> None:
    """Otherwise a library that looks for its files there would fail, and with it every fetch."""
    done = typed(shared, "model")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith('"/"]\n')


def test_an_unreadable_file_is_named_with_a_remedy(shared: Path) -> None:
    private, open_to_all = shared / "private", shared / "open.yaml"
    private.mkdir(mode=0o700)
    (private / "words.yaml").touch()
    open_to_all.touch(mode=0o644)
    assert typed(shared, "box", open_to_all, shared / "none.yaml").returncode == 0
    refused = typed(shared, "box", private / "words.yaml")
    assert refused.returncode == 1
    assert "words.yaml cannot be read by the box's own user, interlude" in refused.stderr
    assert "Copy it to where everybody may read" in refused.stderr
    assert typed(shared, "box", private).returncode == 1, "folders are checked too"


def test_another_user_is_told_to_use_sudo(shared: Path) -> None:
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
def test_each_command_runs_as_the_user_whose_state_it_uses(words: str, runs_as: RunsAs) -> None:
    assert parser().parse_args(words.split()).runs_as == runs_as


def test_the_settings_use_the_state_folder_of_systemd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    assert load(None).state_path() == tmp_path
