"""The policy in a release's tree: read if it is sound, refused if it is not, and optional."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused
from appliance.update.release.policy import NAME, ReleasePolicy, read


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / NAME
    file.parent.mkdir(parents=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_a_release_without_a_policy_asks_for_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "0.2.0") == ReleasePolicy()
    assert read(written(tmp_path, "{}"), "0.2.0") == ReleasePolicy()


def test_a_field_of_a_later_version_is_ignored(tmp_path: Path) -> None:
    policy = {"least_version": "0.1.5", "least_system": "0.1.0", "later": [1]}
    found = read(written(tmp_path, json.dumps(policy)), "0.2.0")
    assert found == ReleasePolicy("0.1.5", "0.1.0")


def test_nothing_older_than_a_release_that_closes_a_hole_may_run_after_it(tmp_path: Path) -> None:
    policy = {"security": True, "least_version": "0.1.5"}
    assert read(written(tmp_path, json.dumps(policy)), "0.2.0").least_version == "0.2.0"


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"\xff", b"[" * 60_000, b'{"least_version": "latest"}', b'{"least_system": "1"}',
     b'{"security": "yes"}', b'{"least_version": "0.2.1"}', b"{} " + b" " * 70_000 + b"x"],
)  # fmt: skip
def test_a_policy_that_cannot_be_used_is_refused(tmp_path: Path, text: bytes) -> None:
    if text.startswith(b"{} "):
        assert read(written(tmp_path, text), "0.2.0") == ReleasePolicy()  # the rest is not read
        return
    with pytest.raises(ReleaseRefused, match=NAME):
        read(written(tmp_path, text), "0.2.0")


def test_the_policy_of_this_tree_lets_this_version_be_installed() -> None:
    from appliance import __version__

    read(Path(__file__).parents[3], __version__)
