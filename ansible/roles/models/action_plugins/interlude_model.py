"""Action `interlude_model`: a model's files from a box into a folder of the controller, and from
there to boxes.

It speaks with the box by `interlude models list|give|take`, over Ansible's own connection and as
whom the play says, in pieces: whatever breaks, the next run goes on where this one stopped. Copying
them as files would need their size again in the memory of a card, and begin anew each time.
"""

from __future__ import annotations

import base64
import json
import shlex
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

COMMAND = "/usr/local/bin/interlude"
# Bytes of a file per call. For twice the output of a box Ansible needs more than twice the time.
SENT_BYTES = 64 << 20
GIVEN_BYTES = 24 << 20
PAUSES_S = (1, 2, 4, 8)  # before the next try, by the number of tries in a row without a new byte


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible's
    """See library/interlude_model.py for the arguments."""

    TRANSFERS_FILES = False
    _supports_check_mode = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        self._name = str(self._task.args["name"])
        self._folder = Path(str(self._task.args["cache"])).expanduser() / self._name
        try:
            if self._task.args["do"] == "bring":
                self._bring(result)
            elif str(self._task.args.get("source", "hub")) == "hub" or self._installed():
                self._keep(result)
        except OSError as error:
            problem = f"{error.filename or self._folder}: {error.strerror}"
            raise AnsibleActionFail(problem) from error
        return dict(result)

    # ── the controller's copy ────────────────────────────────────────────────────────────────
    def _keep(self, result: dict[str, Any]) -> None:
        """Every file of the model in the folder, with the catalogue's checksum."""
        for file in self._row()["files"]:
            kept = self._folder / file["name"]
            if file["sha256"] is None:
                raise AnsibleActionFail(
                    f"Nobody knows the checksum of {file['name']}: it is not taken over."
                )
            if kept.is_file() and _sha256(kept) == file["sha256"]:
                continue
            result["changed"] = True
            if self._task.check_mode:
                continue
            kept.unlink(missing_ok=True)
            self._folder.mkdir(parents=True, exist_ok=True)
            part = kept.with_name(f"{kept.name}.partial")
            self._fetch(file, part)
            if _sha256(part) != file["sha256"]:
                part.unlink()
                raise AnsibleActionFail(f"What came of {file['name']} is not that file.")
            part.rename(kept)

    def _fetch(self, file: dict[str, Any], part: Path) -> None:
        pauses = iter(PAUSES_S)
        with part.open("ab") as target:
            while file["size"] is None or target.tell() < file["size"]:
                at = target.tell()
                words = ("give", self._name, file["name"], "--at", str(at))
                try:
                    piece = base64.b64decode(self._ask(*words, "--most", str(GIVEN_BYTES)))
                except AnsibleError:
                    _pause(pauses)
                    continue
                if not piece:
                    return
                pauses = iter(PAUSES_S)
                target.write(piece)
                target.flush()

    # ── the box ──────────────────────────────────────────────────────────────────────────────
    def _bring(self, result: dict[str, Any]) -> None:
        row = self._row()
        if row["state"] in ("installed", "shipped"):
            return
        result["changed"] = True
        if self._task.check_mode:
            return
        try:
            self._send(row)
            self._ask("take", self._name)
        except _Damaged:  # an earlier copy, which the box has removed
            self._send(self._row())
            self._ask("take", self._name)

    def _send(self, row: dict[str, Any]) -> None:
        """What the box has not of each file."""
        for file in row["files"]:
            kept = self._folder / file["name"]
            if not kept.is_file():
                raise AnsibleActionFail(
                    f"{kept} is not here: no box fetched it. interlude_models_from names one."
                )
            self._send_file(file["name"], kept, int(file["have"]))

    def _send_file(self, name: str, kept: Path, at: int) -> None:
        size, pauses = kept.stat().st_size, iter(PAUSES_S)
        with kept.open("rb") as source:
            while at < size:
                source.seek(at)
                piece = source.read(SENT_BYTES)
                words = ("take", self._name, name, "--at", str(at))
                try:
                    at = int(self._ask(*words, told=piece))
                    pauses = iter(PAUSES_S)
                except AnsibleConnectionFailure:  # a part of the piece may have arrived
                    _pause(pauses)
                    at = self._have(name)

    def _have(self, file: str) -> int:
        return next(int(row["have"]) for row in self._row()["files"] if row["name"] == file)

    def _installed(self) -> bool:
        return bool(self._row()["state"] == "installed")

    def _row(self) -> dict[str, Any]:
        listed = json.loads(self._ask("list", "--json"))["models"]
        for row in listed:
            if row["name"] == self._name:
                return dict(row)
        raise AnsibleActionFail(f"The release on this box knows no model {self._name}.")

    def _ask(self, *words: str, told: bytes = b"\n") -> str:
        """What the box's command prints. Something is always told: without, there is a terminal
        in between. Raises AnsibleActionFail with what it says of itself."""
        done = self._low_level_execute_command(
            shlex.join((COMMAND, "models", *words)), in_data=told, sudoable=True
        )
        if done["rc"] != 0:
            said = (done["stderr"] or done["stdout"]).strip().splitlines()
            problem = said[-1] if said else f"{COMMAND} models {words[0]} ended with {done['rc']}"
            kind = _Damaged if "is not the file it is called" in problem else AnsibleActionFail
            raise kind(problem.removeprefix("interlude: "))
        return str(done["stdout"])


class _Damaged(AnsibleActionFail):  # type: ignore[misc]  # Ansible's
    """A file on the box had other bytes than the catalogue's, and is gone."""


def _pause(pauses: Iterator[int]) -> None:
    """Before what has just failed is tried again. Raises that anew when it was tried enough."""
    for pause_s in pauses:
        time.sleep(pause_s)
        return
    raise  # noqa: PLE0704  # called in an except clause


def _sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()
