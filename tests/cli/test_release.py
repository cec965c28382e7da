"""`interlude release`: what is told of the releases of a box, and which words go together."""

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
    """Keeps 0.2.0, may go back to 0.1.0, and tries 0.3.0."""
    made = ReleaseStore(tmp_path / "opt", tmp_path / "run")
    with made.locked():
        for version in ("0.1.0", "0.2.0", "0.3.0"):
            made.folder(version).mkdir()
            said = ReleaseManifest(
                version=version, machine="any", python="any", made_s=1_780_000_000,
                tree_sha256="0" * 64, tree_bytes=0, files_bytes=0,
            )  # fmt: skip
            (made.folder(version) / NAME).write_bytes(said.encode())
        made.commit("0.1.0")
        made.commit("0.2.0")
        made.begin_trial("0.3.0")
    return made


def test_what_is_kept_tried_and_gone_back_to_is_told(store: ReleaseStore, tmp_path: Path) -> None:
    found = release_report(store, tmp_path)
    assert (found["kept"], found["previous"], found["trial"]) == ("0.2.0", "0.1.0", "0.3.0")
    assert found["installed"] == ["0.3.0", "0.2.0", "0.1.0"]
    assert (found["offers"], found["asked"], found["left"]) == ([], False, None)


def test_an_installation_that_was_asked_for_is_told_while_it_goes_on_and_when_it_ended(
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


def test_a_request_is_told_though_it_leads_nowhere(store: ReleaseStore, tmp_path: Path) -> None:
    (tmp_path / "wanted").symlink_to("none")
    assert release_report(store, tmp_path)["asked"]


def test_a_release_that_was_left_is_told(store: ReleaseStore, tmp_path: Path) -> None:
    (store.root / "failures.json").write_text('{"version": "0.2.0", "left": "0.2.1"}')
    assert release_report(store, tmp_path)["left"] == "0.2.1"


@pytest.mark.parametrize(("file", "wanted"), [(None, False), (Path("x.release"), True)])
def test_a_file_or_the_wanted_one_is_installed_and_never_both(
    file: Path | None, wanted: bool
) -> None:
    args = argparse.Namespace(
        doing="install", file=file, wanted=wanted, downgrade=False, wait=0, cold=False
    )
    with pytest.raises(ReleaseRefused, match="give --wanted, but not both"):
        release.cli(args, load_defaults)


def test_a_pull_without_an_address_says_where_one_may_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PULL_URL", raising=False)
    with pytest.raises(ReleaseRefused, match="PULL_URL"):
        release.cli(argparse.Namespace(doing="pull", address=None), load_defaults)
