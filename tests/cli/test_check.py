"""`interlude check`: on machines that are made of files, with cards that are made of figures."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.cli import check as health
from appliance.errors import LinkError, ModelError
from appliance.runtime import diagnostics
from appliance.runtime.diagnostics import Finding
from tests.cli.fit_machine import PI, fine, machine, not_well, only, raises, settings


# ── a machine that is fit ────────────────────────────────────────────────────────────────────
def test_a_pi_with_a_good_card_has_nothing_to_mend(tmp_path: Path) -> None:
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), fine()))
    assert not_well(found) == []
    assert {finding.looked_at for finding in found} == {
        "software", "cores", "permissions", "memory", "disk", "heat, power", "model", "prompt",
        "voice", "echo", "turns", "sound card", "level", "clock",
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
    kind = "page-wrong-general-model"
    assert one == Finding("model", "problem", "It is not here.", "Fetch it.", kind)


def test_a_broker_is_looked_at_where_one_is_named(tmp_path: Path) -> None:
    housed = settings(tmp_path, link={"broker": "hall.example"})
    away = replace(fine(), house=raises(LinkError("No broker listens.", "Does it run?")))
    one = only(health.collect_findings(housed, machine(tmp_path), away))
    kind = "page-wrong-general-broker"
    assert one == Finding("house", "problem", "No broker listens.", "Does it run?", kind)


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


# ── what is shown ────────────────────────────────────────────────────────────────────────────
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
    assert any("contains a login" in str(each) for each in found) == told
    (server,) = (each for each in found if each.looked_at == "model server")
    assert server.verdict == "problem"  # there is none of that name
    assert "box.example" in server.sentence
    assert "s3cret" not in str(found)
