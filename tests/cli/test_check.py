"""`interlude check`: on machines that are made of files, with cards that are made of figures."""

from __future__ import annotations

import importlib.metadata
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from appliance.audio.cards import CardInfo
from appliance.audio.device_probe import DeviceProbe
from appliance.cli import check as health
from appliance.errors import CardError, InterludeError, LinkError, ModelError
from appliance.runtime import diagnostics, status
from appliance.runtime.diagnostics import Finding
from appliance.runtime.machine import Machine
from appliance.settings import CardSettings, Settings, load

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
    """A Pi 5, with some files changed, or, where None, taken away."""
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
        model=lambda _: "pocket is here.",
        prompt=lambda _: diagnostics.ok("prompt", "It is as the template has it."),
        voice=lambda _: [diagnostics.ok("voice", "espeak speaks.")],
        version=lambda _: "1.0",
        fell_back=list,
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
    (one,) = not_well(found)
    assert one.remedy
    return one


# ── a machine that is fit ────────────────────────────────────────────────────────────────────
def test_a_pi_with_a_good_card_has_nothing_to_mend(tmp_path: Path) -> None:
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), fine()))
    assert not_well(found) == []
    assert {finding.looked_at for finding in found} == {
        "software", "cores", "permissions", "memory", "disk", "heat, power", "model", "prompt",
        "voice", "echo", "sound card", "level", "clock",
    }  # fmt: skip
    assert diagnostics.exit_code(found) == 0


def test_a_machine_that_tells_nothing_of_itself_is_looked_at_all_the_same(tmp_path: Path) -> None:
    bare = machine(tmp_path, dict.fromkeys(PI))
    found = not_well(health.collect_findings(settings(tmp_path), bare, fine()))
    assert {finding.looked_at for finding in found} == {"cores", "permissions"}
    assert diagnostics.exit_code(found) == 0


def test_a_box_that_fell_back_to_an_earlier_release_says_so(tmp_path: Path) -> None:
    said = "Version 0.3.0 did not stay up, so I went back to version 0.2.0."
    asked = replace(fine(), fell_back=lambda: [said])
    found = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert (found.verdict, found.sentence) == ("warning", said)


# ── files ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("changes", "verdict", "looked_at", "said"),
    [
        ({"proc/self/status": "Cpus_allowed_list:\t0-1\n"}, "warning", "cores", "thinker"),
        ({"proc/meminfo": "MemTotal:  1000000 kB\n"}, "problem", "memory", "976 MiB"),
        ({"sys/class/thermal/thermal_zone1/temp": "81000\n"}, "warning", "heat, power", "81 °C"),
        ({"sys/devices/platform/soc@1/soc:firmware/get_throttled": "1"},
         "problem", "heat, power", "the supply voltage is too low"),
        ({"sys/devices/platform/soc@1/soc:firmware/get_throttled": "50000"},
         "warning", "heat, power", "At some time since the start"),
        ({"sys/class/hwmon/hwmon2/name": "rpi_volt", "sys/class/hwmon/hwmon2/in0_lcrit_alarm": "1"},
         "problem", "heat, power", "the supply voltage is too low"),
    ],
)  # fmt: skip
def test_what_the_kernel_says_is_told_with_a_remedy(
    tmp_path: Path, changes: Mapping[str, str | None], verdict: str, looked_at: str, said: str
) -> None:
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path, changes), fine()))
    assert (one.verdict, one.looked_at) == (verdict, looked_at)
    assert said in one.sentence


def test_another_sensors_alarm_is_not_the_supplys(tmp_path: Path) -> None:
    other = {"sys/class/hwmon/hwmon2/name": "nvme", "sys/class/hwmon/hwmon2/in0_lcrit_alarm": "1"}
    assert (
        not_well(health.collect_findings(settings(tmp_path), machine(tmp_path, other), fine()))
        == []
    )


LIMITS = """Max locked memory         {memory}  {memory}  bytes
Max realtime priority     {priority}  {priority}
"""


@pytest.mark.parametrize(
    ("memory", "priority", "capabilities", "warnings"),
    [
        ("unlimited", 40, 0, 0),
        ("1073741824", 50, 0, 0),
        ("8388608", 40, 0, 1),
        ("8388608", 0, 0, 2),
        ("8388608", 0, 1 << 23, 1),
        ("8388608", 0, 1 << 23 | 1 << 14, 0),
    ],
)
def test_limits_and_capabilities_together_say_what_is_permitted(
    tmp_path: Path, memory: str, priority: int, capabilities: int, warnings: int
) -> None:
    status = f"CapEff:\t{capabilities:016x}\nCpus_allowed_list:\t0-3\n"
    limits = LIMITS.format(memory=memory, priority=priority)
    of = machine(tmp_path, {"proc/self/limits": limits, "proc/self/status": status})
    found = not_well(health.collect_findings(settings(tmp_path), of, fine()))
    assert [finding.looked_at for finding in found] == ["permissions"] * warnings


def test_a_thinker_that_shares_a_core_is_a_warning(tmp_path: Path) -> None:
    crowded = settings(tmp_path, processes={"thinker": {"cores": [1, 2, 3]}})
    one = only(health.collect_findings(crowded, machine(tmp_path), fine()))
    assert (one.looked_at, one.verdict) == ("cores", "warning")
    assert "shares core 1" in one.sentence


def test_a_sound_device_that_may_not_be_opened_is_a_problem(tmp_path: Path) -> None:
    shut = replace(machine(tmp_path), access=lambda path, _: "snd" not in str(path))
    one = only(health.collect_findings(settings(tmp_path), shut, fine()))
    assert (one.looked_at, one.verdict) == ("sound card", "problem")
    assert "audio" in one.remedy


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    shut = replace(machine(tmp_path), access=lambda path, _: path != tmp_path)
    one = only(health.collect_findings(settings(tmp_path), shut, fine()))
    assert (one.looked_at, one.verdict) == ("disk", "problem")


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [(0o600, "ok"), (0o400, "ok"), (0o640, "problem"), (None, "problem")],
)
def test_a_key_is_its_owners_alone(tmp_path: Path, mode: int | None, verdict: str) -> None:
    key = tmp_path / "key"
    if mode is not None:
        key.touch(mode)
        key.chmod(mode)
    remote = {"remote": {"url": "http://box.example:8080/v1", "key_file": str(key)}}
    found = health.collect_findings(settings(tmp_path, thinking=remote), machine(tmp_path), fine())
    assert [one.verdict for one in found if one.looked_at == "secrets"] == [verdict]


# ── what is asked ────────────────────────────────────────────────────────────────────────────
def test_a_part_that_cannot_work_says_so_itself(tmp_path: Path) -> None:
    asked = replace(fine(), model=raises(ModelError("It is not here.", "Fetch it.")))
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert one == Finding("model", "problem", "It is not here.", "Fetch it.")


def test_a_card_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    asked = replace(fine(), try_card=raises(CardError("It is in use.", "Stop that program.")))
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert one == Finding("sound card", "problem", "It is in use.", "Stop that program.")


def test_a_card_that_the_running_box_holds_is_not_opened_a_second_time(tmp_path: Path) -> None:
    busy = replace(fine(), try_card=raises(CardError("It is in use.", "Stop that program.")))
    runs = status.SupervisorStatus(pid=1, ready=True, healthy=True)
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), busy, runs))
    assert not_well(iter(found)) == []
    assert "has it open" in next(f for f in found[::-1] if f.looked_at == "sound card").sentence
    deaf = msgspec.structs.replace(runs, failed=("capture",))
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), busy, deaf))
    assert (one.looked_at, one.verdict) == ("sound card", "problem")
    assert "without capture" in one.sentence


def test_a_broker_is_looked_at_where_one_is_named(tmp_path: Path) -> None:
    housed = settings(tmp_path, link={"broker": "hall.example"})
    away = replace(fine(), house=raises(LinkError("No broker listens.", "Does it run?")))
    one = only(health.collect_findings(housed, machine(tmp_path), away))
    assert one == Finding("house", "problem", "No broker listens.", "Does it run?")


def test_a_box_without_a_broker_is_not_asked_for_one(tmp_path: Path) -> None:
    asked = replace(fine(), house=raises(LinkError("No broker listens.", "Does it run?")))
    assert not_well(health.collect_findings(settings(tmp_path), machine(tmp_path), asked)) == []


def test_a_package_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    def version(package: str) -> str:
        if package == "onnxruntime":
            raise importlib.metadata.PackageNotFoundError(package)
        return "1.0"

    one = only(
        health.collect_findings(
            settings(tmp_path), machine(tmp_path), replace(fine(), version=version)
        )
    )
    assert one.sentence == "onnxruntime is not installed."


def test_a_machine_without_espeak_is_warned(tmp_path: Path) -> None:
    asked = replace(fine(), program=lambda _: None)
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert (one.looked_at, one.verdict) == ("voice", "warning")


@pytest.mark.parametrize(
    ("trial", "verdict", "looked_at"),
    [
        (replace(GOOD, noise_dbfs=-120.0, peak_dbfs=-120.0), "problem", "level"),
        (replace(GOOD, noise_dbfs=-30.0), "warning", "level"),
        (replace(GOOD, peak_dbfs=0.0), "warning", "level"),
        (replace(GOOD, dropouts=3), "warning", "sound card"),
        (replace(GOOD, skew_ppm=80.0), "problem", "clock"),
        (replace(GOOD, skew_ppm=-80.0), "problem", "clock"),
    ],
)
def test_what_a_card_does_wrong_is_told_with_a_remedy(
    tmp_path: Path, trial: DeviceProbe, verdict: str, looked_at: str
) -> None:
    asked = replace(fine(), try_card=lambda _: trial)
    one = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert (one.verdict, one.looked_at) == (verdict, looked_at)


@pytest.mark.parametrize(
    "trial",
    [
        replace(GOOD, skew_ppm=80.0, uncertain_ppm=40.0),
        replace(GOOD, skew_ppm=None, uncertain_ppm=None),
    ],
)
def test_clocks_are_not_accused_on_weak_evidence(tmp_path: Path, trial: DeviceProbe) -> None:
    asked = replace(fine(), try_card=lambda _: trial)
    assert not_well(health.collect_findings(settings(tmp_path), machine(tmp_path), asked)) == []


def test_two_devices_are_a_warning_before_any_measurement(tmp_path: Path) -> None:
    two = settings(tmp_path, card={"capture": "hw:A", "playback": "hw:B"})
    one = only(health.collect_findings(two, machine(tmp_path), fine()))
    assert (one.looked_at, one.verdict) == ("clock", "warning")


def test_what_auto_takes_is_told(tmp_path: Path) -> None:
    told = [
        f.sentence for f in health.collect_findings(settings(tmp_path), machine(tmp_path), fine())
    ]
    assert "`auto` takes plughw:CARD=Array." in told


def test_alsas_default_is_warned_of_for_what_lies_in_it(tmp_path: Path) -> None:
    mixed = settings(tmp_path, card={"capture": "default", "playback": "default"})
    one = only(health.collect_findings(mixed, machine(tmp_path), fine()))
    assert "it mixes, resamples" in one.sentence
    assert "auto" in (one.remedy or "")


def test_two_ways_onto_one_card_are_one_clock(tmp_path: Path) -> None:
    one = settings(tmp_path, card={"capture": "hw:CARD=A,DEV=1", "playback": "plughw:CARD=A"})
    assert not_well(health.collect_findings(one, machine(tmp_path), fine())) == []


def test_the_card_of_the_settings_is_the_one_that_is_tried(tmp_path: Path) -> None:
    tried: list[CardSettings] = []

    def try_card(card: CardSettings) -> DeviceProbe:
        tried.append(card)
        return GOOD

    named = settings(tmp_path, card={"capture": "hw:A", "playback": "hw:A"})
    list(health.collect_findings(named, machine(tmp_path), replace(fine(), try_card=try_card)))
    assert [card.capture for card in tried] == ["hw:A"]


# ── what is shown ────────────────────────────────────────────────────────────────────────────
def shown(found: list[Finding]) -> str:
    terminal = io.StringIO()
    diagnostics.show(found, Console(file=terminal, width=100))
    return terminal.getvalue()


def test_the_table_has_the_remedy_under_what_it_mends() -> None:
    text = shown(
        [diagnostics.ok("disk", "Room."), diagnostics.problem("voice", "None.", "Get one.")]
    )
    assert text.index("None.") < text.index("→ Get one.")
    assert "1 problem to fix" in text


def test_names_in_brackets_are_shown_as_they_are() -> None:
    assert "hw:[bold]" in shown([diagnostics.ok("card", "hw:[bold]")])


def test_warnings_alone_do_not_fail() -> None:
    assert diagnostics.exit_code([diagnostics.warning("a", "b", "c")]) == 0
    assert (
        diagnostics.exit_code([diagnostics.ok("a", "b"), diagnostics.problem("a", "b", "c")]) == 1
    )


def test_json_has_every_field() -> None:
    (one,) = json.loads(diagnostics.as_json([diagnostics.problem("a", "b", "c")]))
    assert one == {"looked_at": "a", "verdict": "problem", "sentence": "b", "remedy": "c"}


def test_a_button_that_is_ignored_is_to_know_of(tmp_path: Path) -> None:
    stuck = [diagnostics.warning("panel", "The button is held down: it is ignored.", "Look at it.")]
    asked = replace(fine(), panel=lambda *_: stuck)
    finding = only(health.collect_findings(settings(tmp_path), machine(tmp_path), asked))
    assert finding.looked_at == "panel"


@pytest.mark.parametrize(
    ("url", "told"),
    [("http://user:s3cret@box.example:8080/v1", True), ("http://box.example/v1?key=s3cret", True),
     ("http://box.example:8080/v1", False)],
)  # fmt: skip
def test_a_login_in_the_servers_address_is_warned_of_and_never_repeated(
    url: str, told: bool, tmp_path: Path
) -> None:
    chosen = settings(tmp_path, thinking={"remote": {"url": url}})
    found = list(health.collect_findings(chosen, machine(tmp_path), fine()))
    assert any("holds a login" in str(each) for each in found) == told
    (server,) = (each for each in found if each.looked_at == "model server")
    assert server.verdict == "problem"  # there is none of that name
    assert "box.example" in server.sentence
    assert "s3cret" not in str(found)
