"""A machine's identifiers, memory use and limits, on simulated machines made of files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.runtime.machine import Machine


def machine(root: Path, **files: str) -> Machine:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Machine(root)


def card(root: Path, name: str, address: str, *, wireless: bool = False, real: bool = True) -> None:
    folder = root / "sys/class/net" / name
    folder.mkdir(parents=True)
    (folder / "address").write_text(f"{address}\n")
    if wireless:
        (folder / "wireless").mkdir()
    if real:
        (folder / "device").mkdir()


def test_a_board_has_its_serial_number(tmp_path: Path) -> None:
    board = tmp_path / "proc/device-tree"
    board.mkdir(parents=True)
    (board / "serial-number").write_bytes(b"10000000E63A4B5C\0")
    assert Machine(tmp_path).serial() == "10000000e63a4b5c"


def test_a_machine_without_identifiers_returns_empty_strings(tmp_path: Path) -> None:
    bare = Machine(tmp_path)
    assert (bare.serial(), bare.machine_id(), bare.mac()) == ("", "", "")


def test_the_wired_interface_takes_precedence_over_the_wireless_one(tmp_path: Path) -> None:
    card(tmp_path, "wlan0", "d8:3a:dd:00:00:02", wireless=True)
    card(tmp_path, "eth0", "d8:3a:dd:00:00:01")
    card(tmp_path, "docker0", "02:42:ac:00:00:01", real=False)
    assert Machine(tmp_path).mac() == "d8:3a:dd:00:00:01"


def test_an_interface_without_an_address_is_skipped(tmp_path: Path) -> None:
    card(tmp_path, "eth0", "")
    card(tmp_path, "wlan0", "d8:3a:dd:00:00:02", wireless=True)
    assert Machine(tmp_path).mac() == "d8:3a:dd:00:00:02"


@pytest.mark.parametrize(
    ("meminfo", "percent"),
    [
        ("MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\n", 25),
        ("MemTotal: 8000000 kB\n", None),
        ("MemTotal: 0 kB\nMemAvailable: 0 kB\n", None),
        ("", None),
    ],
)
def test_memory_in_use_excludes_reclaimable_memory(
    tmp_path: Path, meminfo: str, percent: int | None
) -> None:
    assert machine(tmp_path, proc__meminfo=meminfo).memory_used_percent() == percent


def test_throttling_is_known_only_on_a_board_with_the_register(tmp_path: Path) -> None:
    assert not Machine(tmp_path).can_be_throttled()
    register = tmp_path / "sys/devices/platform/soc@107c000000/soc:firmware/get_throttled"
    register.parent.mkdir(parents=True)
    register.write_text("0")
    assert Machine(tmp_path).can_be_throttled()


@pytest.mark.process
def test_the_affinity_and_limits_of_another_process_are_read() -> None:
    """The child's affinity and limits are smaller than those of this process."""
    one = min(os.sched_getaffinity(0))
    narrow = (
        f"import os, resource, sys; os.sched_setaffinity(0, [{one}]);"
        "resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 20, 1 << 20));"
        "print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", narrow], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        other = Machine(process=str(child.pid))
        assert other.cores() == {one}
        assert other._limit("Max locked memory") == 1 << 20
        child.communicate()
