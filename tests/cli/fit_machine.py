"""A Pi 5 made of files, with sound cards made of figures, on which every check passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from appliance.audio.cards import CardInfo
from appliance.audio.device_probe import DeviceProbe
from appliance.cli import check as health
from appliance.errors import InterludeError
from appliance.runtime import diagnostics
from appliance.runtime.diagnostics import Finding
from appliance.runtime.machine import Machine
from appliance.settings import Settings, load

PI = {
    "proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0",
    "proc/self/status": "Name:\tx\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n",
    "proc/self/limits": (
        "Limit                     Soft Limit           Hard Limit           Units\n"
        "Max locked memory         unlimited            unlimited            bytes\n"
        "Max realtime priority     40                   40                   \n"
    ),
    "proc/meminfo": "MemTotal:        8245632 kB\nMemFree:         1 kB\n",
    "sys/class/thermal/thermal_zone0/temp": "52100\n",
    "sys/devices/platform/soc@107c000000/soc:firmware/get_throttled": "0\n",
    "dev/snd/pcmC0D0c": "",
    "dev/snd/pcmC0D0p": "",
}
GOOD = DeviceProbe((16000, 16000), -58.0, -41.0, 2.0, 8.0, 0)


def machine(tmp_path: Path, changes: Mapping[str, str | None] | None = None) -> Machine:
    """A Pi 5 with some files changed, or absent where the value is None."""
    for name, text in {**PI, **(changes or {})}.items():
        if text is not None:
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return Machine(tmp_path / "root", access=lambda path, mode: path.exists())


def fine() -> health.CheckProbes:
    return health.CheckProbes(
        cards=lambda: [CardInfo(0, "Array", "ReSpeaker", capture=True, playback=True)],
        try_card=lambda _: GOOD,
        program=lambda name: f"/usr/bin/{name}",
        canceller=lambda _: "The canceller is here.",
        turns=lambda _: diagnostics.ok("turns", "The end is judged."),
        model=lambda _: "pocket is here.",
        prompt=lambda _: diagnostics.ok("prompt", "It is as the template has it."),
        voice=lambda _: [diagnostics.ok("voice", "espeak speaks.")],
        version=lambda _: "1.0",
        fell_back=list,
        ignored_file=lambda: None,
        landlock=lambda: 7,
    )


def settings(tmp_path: Path, **changes: Any) -> Settings:
    mine = tmp_path / "settings.yaml"
    mine.write_text("")
    return load(mine, {"state_dir": str(tmp_path), **changes})


def raises(error: InterludeError) -> Any:
    def ask(_: object) -> Any:
        raise error

    return ask


def not_well(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.verdict != "ok"]


def only(found: Iterable[Finding]) -> Finding:
    (finding,) = not_well(found)
    assert finding.remedy
    return finding
