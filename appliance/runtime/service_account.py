"""The service's user and state folder, and the user as which the owner's commands run.

A release in /opt/interlude is a box: its commands use the service's state and settings, for every
caller and environment. A command that root starts first switches to the service's user, so that it
leaves no files of root in the service's folders. In a checkout there is no service, and nothing is
changed.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from appliance.errors import NotAllowed

STATE = Path("/var/lib/interlude")  # the unit's StateDirectory=
CREDENTIALS = Path("/run/credentials/interlude.service")  # LoadCredential= of its unit
RELEASES = Path("/opt/interlude/releases")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # when the caller has none
NOWHERE = "/nonexistent"

# caller: the user who runs the command, which reads no state or needs root. box: the service's
# user. model: the user that downloads models.
RunsAs = Literal["caller", "box", "model"]
USERS: dict[RunsAs, tuple[str, ...]] = {  # the first that exists on this system is used
    "box": ("interlude",),
    "model": ("interlude-model", "interlude"),
}
GROUPS = ("audio", "gpio", "interlude-incoming")  # as SupplementaryGroups= of its unit
_CALLER_VARIABLES = (  # variables of the caller: the service's code would look for its files there
    "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
)  # fmt: skip


@dataclass(frozen=True)
class ServiceAccount:
    """The account of the service on this system. `code`: a file of this package."""

    code: Path = Path(__file__)
    releases: Path = RELEASES
    state: Path = STATE
    user: Callable[[str], pwd.struct_passwd] = pwd.getpwnam
    environment: MutableMapping[str, str] = field(default_factory=lambda: os.environ)
    credentials: Path = CREDENTIALS

    def here(self) -> bool:
        """Whether this code is a release on a box."""
        return self.code.resolve().is_relative_to(self.releases)

    def enter(self, runs_as: RunsAs, files: Iterable[Path] = ()) -> None:
        """Switch to the user and environment of a command. `files`: file arguments of the command.

        Raises NotAllowed if this user may not run it, or the service's user cannot read `files`.
        """
        if not self.here():
            return
        if runs_as != "caller":
            self._switch_user(USERS[runs_as], runs_as, files)
        env = self.environment
        env.setdefault("STATE_DIRECTORY", str(self.state))
        env.setdefault("PATH", PATH)
        if runs_as == "box" and os.access(self.credentials, os.X_OK):  # while the service runs
            env.setdefault("CREDENTIALS_DIRECTORY", str(self.credentials))
        # Libraries look for files there that change what they do: ALSA's ~/.asoundrc can load any
        # library. The box's own user, and so each part, may write its home.
        env["XDG_CONFIG_HOME"] = NOWHERE
        if runs_as == "box":
            env["HOME"] = NOWHERE

    def _switch_user(self, names: tuple[str, ...], runs_as: RunsAs, files: Iterable[Path]) -> None:
        entries = self._entries(names)
        entry = entries[0]
        if os.geteuid() == 0 and entry.pw_uid != 0:
            existing = [file for file in files if file.exists()]
            self._set_user(entry, runs_as)
            for file in existing:
                _require_readable(file, entry.pw_name)
        elif os.geteuid() not in {entry.pw_uid for entry in entries}:
            raise NotAllowed(
                f"That is for the box's own user, {entry.pw_name}.", "Put `sudo` before it."
            )
        for name in _CALLER_VARIABLES:
            self.environment.pop(name, None)

    def _entries(self, names: tuple[str, ...]) -> list[pwd.struct_passwd]:
        found = []
        for name in names:
            with suppress(KeyError):
                found.append(self.user(name))
        if not found:
            raise NotAllowed(f"This system has no user {names[0]}, as which that runs.")
        return found

    def _set_user(self, entry: pwd.struct_passwd, runs_as: RunsAs) -> None:
        groups = {entry.pw_gid, *os.getgrouplist(entry.pw_name, entry.pw_gid)}
        if runs_as == "box":
            groups |= _group_ids(GROUPS)
        os.setgroups(sorted(groups))
        os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
        os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
        os.umask(0o077 if runs_as == "box" else 0o027)
        # The user that downloads may not enter the box's folder, and libraries look for files in
        # HOME: it gets one without any, as under systemd.
        self.environment["HOME"] = "/"
        self.environment["USER"] = self.environment["LOGNAME"] = entry.pw_name


def _group_ids(names: Iterable[str]) -> set[int]:
    return {group.gr_gid for group in grp.getgrall() if group.gr_name in set(names)}


def _require_readable(file: Path, user: str) -> None:
    try:
        readable = os.access(file, os.R_OK | (os.X_OK if file.is_dir() else 0))
    except OSError:
        readable = False
    if not readable:
        raise NotAllowed(
            f"{file} cannot be read by the box's own user, {user}, as which this runs.",
            "Copy it to where everybody may read, as below /tmp.",
        )
