"""`interlude check` on machines made of files, with sound cards made of figures."""

from __future__ import annotations

import errno
import importlib.metadata
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.cli import check as health
from appliance.errors import LinkError, ModelError
from appliance.runtime import diagnostics
from appliance.runtime.diagnostics import Finding
from tests.cli.fit_machine import PI, fine, machine, not_well, only, raises, settings


# ── a machine without faults ─────────────────────────────────────────────────────────────────
def test_a_pi_with_a_good_card_gets_no_warning(tmp_path: Path) -> None:
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), fine()))
    assert not_well(found) == []
    assert {finding.looked_at for finding in found} == {
        "software", "cores", "permissions", "memory", "disk", "heat, power", "model", "prompt",
        "voice", "echo", "turns", "sound card", "level", "clock",
    }  # fmt: skip
    assert diagnostics.exit_code(found) == 0


def test_a_machine_without_readable_system_files_is_checked_too(tmp_path: Path) -> None:
    bare = machine(tmp_path, dict.fromkeys(PI))
    found = not_well(health.collect_findings(settings(tmp_path), bare, fine()))
    assert {finding.looked_at for finding in found} == {"cores", "permissions"}
    assert diagnostics.exit_code(found) == 0


def test_a_fallback_to_an_earlier_release_is_reported(tmp_path: Path) -> None:
    sentence = "Version 0.3.0 did not stay up, so I went back to version 0.2.0."
    probes = replace(fine(), fell_back=lambda: [sentence])
    found = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert (found.verdict, found.sentence) == ("warning", sentence)


@pytest.mark.parametrize(
    ("number", "words", "remedy"),
    [
        (errno.ENOSYS, "this kernel has no Landlock", "Debian's kernel has it"),
        (errno.EOPNOTSUPP, "Landlock is switched off at boot", "lsm="),
        (errno.EPERM, "Landlock is refused", "docs/security.md"),
    ],
)
def test_a_kernel_without_landlock_is_a_warning_with_a_remedy(
    tmp_path: Path, number: int, words: str, remedy: str
) -> None:
    def lacks() -> int:
        raise OSError(number, os.strerror(number))

    probes = replace(fine(), landlock=lacks)
    found = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert (found.looked_at, found.verdict) == ("permissions", "warning")
    assert words in found.sentence
    assert remedy in found.remedy


@pytest.mark.parametrize(
    ("version", "text"),
    [(2, "version 2; it does not limit TCP and signals"), (5, "limit signals"), (6, "version 6)")],
)
def test_the_version_of_landlock_is_shown(tmp_path: Path, version: int, text: str) -> None:
    probes = replace(fine(), landlock=lambda: version)
    found = list(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert not not_well(found)
    assert any(text in finding.sentence for finding in found)


def test_an_ignored_settings_file_is_named_with_a_remedy(tmp_path: Path) -> None:
    file = tmp_path / ".config/interlude/settings.yaml"
    probes = replace(fine(), ignored_file=lambda: file)
    found = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert (found.looked_at, found.verdict) == ("settings", "warning")
    assert f"{file} is ignored" in found.sentence


# ── files ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("changes", "verdict", "looked_at", "text"),
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
def test_a_value_of_the_kernel_is_reported_with_a_remedy(
    tmp_path: Path, changes: Mapping[str, str | None], verdict: str, looked_at: str, text: str
) -> None:
    finding = only(health.collect_findings(settings(tmp_path), machine(tmp_path, changes), fine()))
    assert (finding.verdict, finding.looked_at) == (verdict, looked_at)
    assert text in finding.sentence


def test_the_alarm_of_another_sensor_is_not_reported_as_that_of_the_supply(tmp_path: Path) -> None:
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
def test_limits_and_capabilities_determine_the_permission_warnings(
    tmp_path: Path, memory: str, priority: int, capabilities: int, warnings: int
) -> None:
    status = f"CapEff:\t{capabilities:016x}\nCpus_allowed_list:\t0-3\n"
    limits = LIMITS.format(memory=memory, priority=priority)
    pi = machine(tmp_path, {"proc/self/limits": limits, "proc/self/status": status})
    found = not_well(health.collect_findings(settings(tmp_path), pi, fine()))
    assert [finding.looked_at for finding in found] == ["permissions"] * warnings


def test_a_thinker_that_shares_a_core_is_a_warning(tmp_path: Path) -> None:
    crowded = settings(tmp_path, processes={"thinker": {"cores": [1, 2, 3]}})
    finding = only(health.collect_findings(crowded, machine(tmp_path), fine()))
    assert (finding.looked_at, finding.verdict) == ("cores", "warning")
    assert "shares core 1" in finding.sentence


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    read_only = replace(machine(tmp_path), access=lambda path, _: path != tmp_path)
    finding = only(health.collect_findings(settings(tmp_path), read_only, fine()))
    assert (finding.looked_at, finding.verdict) == ("disk", "problem")


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [(0o600, "ok"), (0o400, "ok"), (0o640, "problem"), (None, "problem")],
)
def test_a_key_file_must_be_readable_by_its_owner_only(
    tmp_path: Path, mode: int | None, verdict: str
) -> None:
    key = tmp_path / "key"
    if mode is not None:
        key.touch(mode)
        key.chmod(mode)
    remote = {"remote": {"url": "http://box.example:8080/v1", "key_file": str(key)}}
    found = health.collect_findings(settings(tmp_path, thinking=remote), machine(tmp_path), fine())
    assert [finding.verdict for finding in found if finding.looked_at == "secrets"] == [verdict]


# ── probes ───────────────────────────────────────────────────────────────────────────────────
def test_the_error_of_a_probe_becomes_a_finding(tmp_path: Path) -> None:
    probes = replace(fine(), model=raises(ModelError("It is not here.", "Fetch it.")))
    finding = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    kind = "page-wrong-general-model"
    assert finding == Finding("model", "problem", "It is not here.", "Fetch it.", kind)


def test_a_configured_broker_is_checked(tmp_path: Path) -> None:
    configured = settings(tmp_path, link={"broker": "hall.example"})
    away = replace(fine(), house=raises(LinkError("No broker listens.", "Does it run?")))
    finding = only(health.collect_findings(configured, machine(tmp_path), away))
    kind = "page-wrong-general-broker"
    assert finding == Finding("house", "problem", "No broker listens.", "Does it run?", kind)


def test_without_a_configured_broker_none_is_checked(tmp_path: Path) -> None:
    probes = replace(fine(), house=raises(LinkError("No broker listens.", "Does it run?")))
    assert not_well(health.collect_findings(settings(tmp_path), machine(tmp_path), probes)) == []


def test_a_missing_package_is_a_problem(tmp_path: Path) -> None:
    def version(package: str) -> str:
        if package == "onnxruntime":
            raise importlib.metadata.PackageNotFoundError(package)
        return "1.0"

    finding = only(
        health.collect_findings(
            settings(tmp_path), machine(tmp_path), replace(fine(), version=version)
        )
    )
    assert finding.sentence == "onnxruntime is not installed."


def test_a_machine_without_espeak_is_a_warning(tmp_path: Path) -> None:
    probes = replace(fine(), program=lambda _: None)
    finding = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert (finding.looked_at, finding.verdict) == ("voice", "warning")


# ── output ───────────────────────────────────────────────────────────────────────────────────
def test_an_ignored_button_is_reported(tmp_path: Path) -> None:
    stuck = [diagnostics.warning("panel", "The button is held down: it is ignored.", "Look at it.")]
    probes = replace(fine(), panel=lambda *_: stuck)
    finding = only(health.collect_findings(settings(tmp_path), machine(tmp_path), probes))
    assert finding.looked_at == "panel"


@pytest.mark.parametrize(
    ("url", "warned"),
    [("http://user:s3cret@box.example:8080/v1", True), ("http://box.example/v1?key=s3cret", True),
     ("http://box.example:8080/v1", False)],
)  # fmt: skip
def test_a_login_in_the_address_of_the_server_is_a_warning_and_never_repeated(
    url: str, warned: bool, tmp_path: Path
) -> None:
    chosen = settings(tmp_path, thinking={"remote": {"url": url}})
    found = list(health.collect_findings(chosen, machine(tmp_path), fine()))
    assert any("contains a login" in str(finding) for finding in found) == warned
    (server,) = (finding for finding in found if finding.looked_at == "model server")
    assert server.verdict == "problem"  # there is no server of that name
    assert "box.example" in server.sentence
    assert "s3cret" not in str(found)
