"""`interlude release`: the report about the releases of a box, and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from appliance.cli import release
from appliance.cli.release import release_report
from appliance.errors import ReleaseRefused
from appliance.settings import load_defaults
from appliance.update.release.manifest import NAME, ReleaseManifest
from appliance.update.release.store import ReleaseStore
from appliance.update.request import ProgressWriter


@pytest.fixture
def store(tmp_path: Path) -> ReleaseStore:
    """A store that keeps 0.2.0, may return to 0.1.0, and tries 0.3.0."""
    made = ReleaseStore(tmp_path / "opt", tmp_path / "run")
    with made.locked():
        for version in ("0.1.0", "0.2.0", "0.3.0"):
            made.folder(version).mkdir()
            manifest = ReleaseManifest(
                version=version, machine="any", python="any", made_s=1_780_000_000,
                tree_sha256="0" * 64, tree_bytes=0, files_bytes=0,
            )  # fmt: skip
            (made.folder(version) / NAME).write_bytes(manifest.encode())
        made.commit("0.1.0")
        made.commit("0.2.0")
        made.begin_trial("0.3.0")
    return made


def test_the_kept_previous_and_tried_releases_are_reported(
    store: ReleaseStore, tmp_path: Path
) -> None:
    found = release_report(store, tmp_path)
    assert (found["kept"], found["previous"], found["trial"]) == ("0.2.0", "0.1.0", "0.3.0")
    assert found["installed"] == ["0.3.0", "0.2.0", "0.1.0"]
    assert (found["offers"], found["asked"], found["left"]) == ([], False, None)


def test_a_requested_installation_is_reported_during_and_after_it(
    store: ReleaseStore, tmp_path: Path
) -> None:
    (tmp_path / "wanted").write_text("x.release")
    writer = ProgressWriter(store.trial_folder, "0.4.0")
    writer.update("unpack", 0.5)
    found = release_report(store, tmp_path)
    assert (found["asked"], found["step"], found["problem"]) == (True, "unpack", "")
    (tmp_path / "wanted").unlink()
    writer.finish(ReleaseRefused("It is not signed."))
    found = release_report(store, tmp_path)
    assert (found["asked"], found["step"], found["problem"]) == (False, "", "It is not signed.")


def test_a_request_through_a_dangling_link_is_reported(store: ReleaseStore, tmp_path: Path) -> None:
    (tmp_path / "wanted").symlink_to("none")
    assert release_report(store, tmp_path)["asked"]


def test_an_abandoned_release_is_reported(store: ReleaseStore, tmp_path: Path) -> None:
    (store.root / "failures.json").write_text('{"version": "0.2.0", "left": "0.2.1"}')
    assert release_report(store, tmp_path)["left"] == "0.2.1"


@pytest.mark.parametrize(("file", "wanted"), [(None, False), (Path("x.release"), True)])
def test_install_takes_a_file_or_the_wanted_option_and_not_both(
    file: Path | None, wanted: bool
) -> None:
    args = argparse.Namespace(
        doing="install", file=file, wanted=wanted, downgrade=False, wait=0, cold=False
    )
    with pytest.raises(ReleaseRefused, match="give --wanted, but not both"):
        release.cli(args, load_defaults)


def test_a_pull_without_an_address_names_the_variable_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PULL_URL", raising=False)
    with pytest.raises(ReleaseRefused, match="PULL_URL"):
        release.cli(argparse.Namespace(doing="pull", address=None), load_defaults)
