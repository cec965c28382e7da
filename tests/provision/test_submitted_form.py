"""The form that the set-up page writes for root: its own fields only, in one small file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.errors import SeedRefused
from appliance.provision.seed import WifiNetwork, check
from appliance.provision.submitted_form import (
    FILE,
    SubmittedForm,
    clear,
    last_used_ns,
    mark_used,
    pop_form,
    submit,
)
from tests.provision.seeds import MEANT, can_be_applied


def wifi(**more: object) -> bytes:
    return msgspec.json.encode({"wifi": "Home", "password": "correct horse", **more})


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"wifi: [", "an invalid form"),
        (b"\xff\xfe", "an invalid form"),
        (b'{"wifi": "\\ud800", "password": "correct horse"}', "an invalid form"),
        (b" " * 100_000, "too large"),
        (wifi(ssh_keys=["ssh-ed25519 AAAA intruder"]), "an invalid form"),
        (wifi(timezone="Europe/Berlin"), "an invalid form"),
        (wifi(mqtt={"port": 1}), "an invalid form"),
        (wifi(model="gemma-4-e4b"), "an invalid form"),
        (wifi(mode="loud"), "an invalid form"),
        (wifi(hostname="a" * 300), "an invalid form"),
    ],
)
def test_root_accepts_only_the_fields_of_the_page(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(SeedRefused, match=why):
        pop_form(tmp_path, os.geteuid())
    assert not (tmp_path / FILE).exists()


def fifo(at: Path, elsewhere: Path) -> None:
    os.mkfifo(at)


def link(at: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes(wifi())
    at.symlink_to(elsewhere)


def sparse(at: Path, elsewhere: Path) -> None:
    with at.open("wb") as file:
        file.truncate(1 << 40)


def folder(at: Path, elsewhere: Path) -> None:
    (at / "full").mkdir(parents=True)


@pytest.mark.parametrize("lay", [fifo, link, sparse, folder])
@pytest.mark.timeout(20)
def test_anything_but_a_regular_file_is_refused_without_blocking(
    tmp_path: Path, lay: Callable[[Path, Path], None]
) -> None:
    lay(tmp_path / FILE, tmp_path / "elsewhere")
    with pytest.raises(SeedRefused):
        pop_form(tmp_path, os.geteuid())
    if lay is not folder:  # root does not empty a folder
        assert pop_form(tmp_path, os.geteuid()) is None


def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(wifi())
    with pytest.raises(SeedRefused, match="not a regular file of its user"):
        pop_form(tmp_path, os.geteuid() + 1)
    (tmp_path / FILE).write_bytes(wifi())
    taken = pop_form(tmp_path, os.geteuid())
    assert taken is not None
    assert taken.wifi == WifiNetwork(b"Home", "correct horse")


def test_a_seed_survives_the_file_unchanged(tmp_path: Path) -> None:
    submit(tmp_path, MEANT)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    taken = pop_form(tmp_path, os.geteuid())
    assert taken is not None
    check(taken)
    assert taken == MEANT
    assert pop_form(tmp_path, os.geteuid()) is None


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200) | st.fixed_dictionaries(
    {"wifi": st.text(max_size=40)},
    optional=dict.fromkeys((*SubmittedForm.__struct_fields__[1:], "ssh_keys"),
    st.text(max_size=40)),
).map(msgspec.json.encode))  # fmt: skip
def test_any_form_is_accepted_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / FILE).write_bytes(data)
    try:
        seed = pop_form(folder, folder.stat().st_uid)
        assert seed is not None
        check(seed)
    except SeedRefused:
        return
    assert seed.keys == ()
    assert seed.timezone == ""
    can_be_applied(seed)


def test_a_use_of_the_page_is_recorded_and_cleared_together_with_the_form(tmp_path: Path) -> None:
    assert last_used_ns(tmp_path) is None
    mark_used(tmp_path)
    submit(tmp_path, MEANT)
    assert last_used_ns(tmp_path) == (tmp_path / "used").stat().st_mtime_ns
    clear(tmp_path)
    assert list(tmp_path.iterdir()) == []
    clear(tmp_path)  # again, and a missing folder
    clear(tmp_path / "none")


def test_a_use_that_cannot_be_recorded_is_no_error(tmp_path: Path) -> None:
    mark_used(tmp_path / "none")
    assert last_used_ns(tmp_path / "none") is None
