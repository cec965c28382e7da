"""The findings of `interlude check` while the box runs, for its page: a program of its own.

In: one JSON record on the standard input. Out: findings as JSON. The page starts it, so it has the
page's rights: no network. What it cannot check itself comes from the record. Left out are the
network, and the prompt, whose check needs a second copy of the model in memory.
"""

from __future__ import annotations

import dataclasses
import os
import sys

import msgspec

from appliance.cli import check
from appliance.errors import LinkError, ShownAs, VoiceError
from appliance.models.store import ModelStore
from appliance.mqtt.broker import refuse_unconfirmed
from appliance.runtime import status
from appliance.runtime.diagnostics import UNSHOWN, Finding, as_json, ok, told_by
from appliance.runtime.machine import Machine
from appliance.settings import Settings

_NICE = 19  # lowest priority, so that the check does not delay the conversation
_PARTS = {"the microphone": "capture", "the loudspeaker": "playback"}  # BoxStatus.broken → part


class BesideBox(msgspec.Struct, frozen=True):
    """The page's knowledge of the box. `parent`: id of the process that forks the parts; its limits
    are theirs, and are checked. `broken`, `voice`, `house`: as in BoxStatus."""

    settings: Settings
    parent: int
    broken: tuple[str, ...] = ()
    voice: str = ""
    house: bool | None = None


def collect_beside(box: BesideBox, machine: Machine) -> list[Finding]:
    """Every finding that the page's rights allow. The sound card is not opened: the box uses it."""
    probes = check.CheckProbes(
        model=_model,
        prompt=lambda _: None,
        server=_server,
        voice=lambda _: [
            told_by(
                "voice",
                lambda: _voice(box.voice),
                ShownAs.of("page-find-voice", voice=box.voice),
            )
        ],
        house=lambda _: _house(box.house),
        network=list,
    )
    failed_parts = tuple(part for words, part in _PARTS.items() if words in box.broken)
    running = status.SupervisorStatus(pid=box.parent, failed=failed_parts)
    findings = check.collect_findings(box.settings, machine, probes, running)
    return [_with_words(finding, box.settings) for finding in findings]


def _with_words(finding: Finding, settings: Settings) -> Finding:
    """Add the page's sentence to an "ok" of the probes below, which return English text only."""
    if finding.key or finding.verdict != "ok":
        return finding
    shown = {
        "model": ShownAs.of("page-find-model", model=settings.thinking.model),
        "house": ShownAs.of("page-find-house"),
    }.get(finding.looked_at, UNSHOWN)
    return dataclasses.replace(finding, key=shown.key, values=dict(shown.values))


def _model(settings: Settings) -> str:
    """A sentence about the model's files. Raises ModelError. Their checksums are not compared:
    that reads gigabytes, and `interlude check` does it."""
    name = ModelStore.of(settings).language_model(settings.thinking.model).name
    return f"{name} is here. Its checksum was not looked at."


def _server(settings: Settings) -> Finding:
    return ok(
        "model",
        "A server of your own answers. `interlude check` asks it for a word.",
        ShownAs.of("page-find-model-server"),
    )


def _voice(name: str) -> str:
    """A sentence about the voice that spoke last. Raises VoiceError if none has."""
    if not name:
        raise VoiceError(
            "No voice has spoken yet.",
            "Wait a minute, then check again.",
            shown=ShownAs.of("page-find-voice-none"),
        )
    return f"{name} speaks."


def _house(connected: bool | None) -> str:
    """A sentence about the broker. Raises LinkError if the box has no connection to it."""
    if not connected:
        refuse_unconfirmed()
        raise LinkError(
            "The box has no connection to the broker.",
            "`interlude check` says why; see `link.broker`.",
            shown=ShownAs.of("page-find-house-gone"),
        )
    return "The box is connected to the broker."


def main() -> int:
    os.nice(_NICE)
    box = msgspec.json.decode(sys.stdin.buffer.read(), type=BesideBox)
    sys.stdout.write(as_json(collect_beside(box, Machine(process=str(box.parent)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
