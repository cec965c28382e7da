"""A box behind NAT fetches the release of its fleet from a web server and requests its
installation."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from appliance.__main__ import main
from appliance.cli.release import cli_pull
from appliance.errors import FetchError, HealthCheckFailed, StorageError
from appliance.language.catalogue import BoxSentence
from appliance.runtime.free_space import SPARE_BYTES
from appliance.update.release import rejected
from appliance.update.release.fleet_pull import SHEET_BYTES, pull
from appliance.update.release.installer import InstallOptions
from appliance.update.release.look_record import SUCCEEDED
from appliance.update.request import install_wanted, offers, request_install, request_return
from tests.update.release.workshop import MADE_S, Bench

pytestmark = pytest.mark.process


ASKED = BoxSentence.of("page-look-asked", version="0.3.0")


def none_newer(kept: str, there: str) -> BoxSentence:
    return BoxSentence.of("page-look-none", kept=kept, there=there)


class Web:
    """A web server that maps a path to bytes or to a redirect. `cuts`: the length after which the
    next answer for a path is cut. `ranges`: whether the server supports byte ranges. `length`: of
    an archive, instead of the right one."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.moved: dict[str, str] = {}
        self.cuts: dict[str, int] = {}
        self.ranges = True
        self.length: str | None = None
        self.requests: list[tuple[str, str | None]] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}/fleet/sheet.json"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        range_header = http.headers.get("Range")
        self.requests.append((http.path, range_header))
        if http.path in self.moved:
            http.send_response(302)
            http.send_header("Location", self.moved[http.path])
            http.end_headers()
            return
        if http.path not in self.files:
            http.send_error(404)
            return
        data, at = self.files[http.path], 0
        if range_header and self.ranges:
            at = int(range_header.removeprefix("bytes=").rstrip("-"))
            if at >= len(data):
                http.send_error(416)
                return
        http.send_response(206 if at else 200)
        length = self.length if http.path.endswith(".release") else None
        http.send_header("Content-Length", length or str(len(data) - at))
        http.end_headers()
        http.wfile.write(data[at:][: self.cuts.pop(http.path, None)])


@pytest.fixture
def web() -> Iterator[Web]:
    server = Web()
    yield server
    server.close()


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The box runs 0.2.0."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    return folder


def publish(web: Web, at: Bench, made: str = "0.3.0", **changes: str) -> bytes:
    """Publish a release and the sheet that names it."""
    return publish_file(web, at.shop.make(made), made, **changes)


def publish_file(web: Web, file: Path, made: str = "0.3.0", **changes: str) -> bytes:
    data = file.read_bytes()
    web.files["/fleet/new.release"] = data
    sheet = {"version": made, "url": "new.release",
             "sha256": hashlib.sha256(data).hexdigest(), **changes}  # fmt: skip
    web.files["/fleet/sheet.json"] = json.dumps(sheet).encode()
    return data


def fetched(web: Web) -> list[str | None]:
    return [header for path, header in web.requests if path.endswith(".release")]


def test_a_newer_release_is_fetched_requested_and_installed(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish(web, at)
    assert pull(web.address, at.store, incoming) == ASKED
    assert (incoming / "wanted").read_text() == "pulled-0.3.0.release"
    assert install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
    assert list(incoming.iterdir()) == []
    assert pull(web.address, at.store, incoming) == none_newer("0.3.0", "0.3.0")
    assert len(fetched(web)) == 1


def test_a_release_that_is_already_complete_is_requested_again_but_not_fetched_again(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish(web, at)
    pull(web.address, at.store, incoming)
    (incoming / "wanted").unlink()
    assert pull(web.address, at.store, incoming) == ASKED
    assert len(fetched(web)) == 1


def test_an_older_release_and_one_that_did_not_stay_up_are_not_fetched(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish(web, at, "0.1.0")
    assert pull(web.address, at.store, incoming) == none_newer("0.2.0", "0.1.0")
    publish(web, at, "0.4.0")
    (at.store.root / "failures.json").write_text('{"version": "0.2.0", "left": "0.4.0"}')
    left = BoxSentence.of("page-look-left", version="0.4.0")
    assert pull(web.address, at.store, incoming) == left
    assert fetched(web) == []


def night(at: Bench, incoming: Path, web: Web) -> tuple[BoxSentence, int]:
    """One nightly look: return its result and the number of restarts that it caused."""
    restarts = at.box.restarts
    found = pull(web.address, at.store, incoming, now_s=at.box.clock_s)
    if (incoming / "wanted").exists():
        with suppress(HealthCheckFailed):
            install_wanted(at.installer(), InstallOptions(), incoming)
    return found, at.box.restarts - restarts


def test_a_release_that_failed_its_trial_is_requested_again_only_by_hand(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish_file(web, at.shop.make("0.3.0", "crashes"))
    failed = BoxSentence.of("page-look-failed", version="0.3.0")
    nights = [night(at, incoming, web) for _ in range(3)]
    assert nights == [(ASKED, 2), (failed, 0), (failed, 0)]
    assert len(fetched(web)) == 1
    (offer,) = offers(at.store, incoming)
    for _ in range(2):
        request_install(offer)
        with pytest.raises(HealthCheckFailed):
            install_wanted(at.installer(), InstallOptions(), incoming)
    assert night(at, incoming, web) == (failed, 0)
    publish(web, at, "0.4.0")
    assert night(at, incoming, web) == (BoxSentence.of("page-look-asked", version="0.4.0"), 1)
    assert at.store.kept() == "0.4.0"


def test_after_a_failed_trial_only_another_tree_of_the_same_version_is_tried(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish_file(web, at.shop.make("0.3.0", "crashes"))
    night(at, incoming, web)
    failed = BoxSentence.of("page-look-failed", version="0.3.0")
    publish_file(web, at.shop.make("0.3.0", "crashes", made_s=MADE_S + 1))
    assert [night(at, incoming, web) for _ in range(2)] == [(failed, 0), (failed, 0)]
    assert len(fetched(web)) == 2
    publish(web, at)
    assert night(at, incoming, web) == (ASKED, 1)
    assert at.store.kept() == "0.3.0"


@pytest.mark.parametrize("way", ["rollback", "button", "downgrade"])
def test_a_release_that_was_rolled_back_is_not_fetched_again(
    at: Bench, incoming: Path, web: Web, way: str
) -> None:
    publish(web, at)
    assert night(at, incoming, web) == (ASKED, 1)
    if way == "rollback":
        at.installer().rollback()
    elif way == "button":
        request_return(incoming)
        install_wanted(at.installer(), InstallOptions(), incoming)
    else:
        at.installer().install(at.shop.make("0.1.0"), InstallOptions(downgrade=True))
    returned = BoxSentence.of("page-look-returned", version="0.3.0")
    assert [night(at, incoming, web) for _ in range(2)] == [(returned, 0), (returned, 0)]
    assert len(fetched(web)) == 1
    assert at.installer().install(at.shop.make("0.3.0"))
    assert night(at, incoming, web) == (none_newer("0.3.0", "0.3.0"), 0)


def test_an_update_that_a_part_of_the_box_undid_is_installed_again_after_a_week(
    at: Bench, incoming: Path, web: Web
) -> None:
    """A compromised part requests the return; with another signed release it could do no more."""
    publish(web, at)
    assert night(at, incoming, web) == (ASKED, 1)
    request_return(incoming)
    install_wanted(at.installer(), InstallOptions(), incoming)
    at.box.clock += rejected.REQUESTED_S - 60.0
    assert night(at, incoming, web)[0] == BoxSentence.of("page-look-returned", version="0.3.0")
    at.box.clock += 60.0
    assert night(at, incoming, web) == (ASKED, 1)
    assert at.store.kept() == "0.3.0"


@pytest.mark.parametrize("data", [b"", b"[", b"\xff", b'{"releases": [{"version": 3}]}'])
def test_a_damaged_note_of_rejected_releases_does_not_prevent_a_pull(
    at: Bench, incoming: Path, web: Web, data: bytes
) -> None:
    publish(web, at)
    (at.store.root / rejected.NOTE).write_bytes(data)
    assert night(at, incoming, web) == (ASKED, 1)
    assert at.installer().rollback() == "0.2.0"
    returned = BoxSentence.of("page-look-returned", version="0.3.0")
    assert night(at, incoming, web) == (returned, 0)


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_download_is_resumed(
    at: Bench, incoming: Path, web: Web, ranges: bool
) -> None:
    publish(web, at)
    web.ranges = ranges
    web.cuts = {"/fleet/new.release": 1000}
    with pytest.raises(FetchError, match=r"broke off the download\. What arrived is kept"):
        pull(web.address, at.store, incoming)
    assert [path.name for path in incoming.iterdir()] == [".pulled-0.3.0.part"]
    assert pull(web.address, at.store, incoming) == ASKED
    assert fetched(web) == [None, "bytes=1000-"]


def test_a_partial_download_of_another_file_is_detected_and_fetched_again(
    at: Bench, incoming: Path, web: Web
) -> None:
    data = publish(web, at)
    part = incoming / ".pulled-0.3.0.part"
    part.write_bytes(b"x" * (len(data) + 5))  # longer than the release: no resume there
    assert pull(web.address, at.store, incoming) == ASKED
    (incoming / "pulled-0.3.0.release").unlink()
    part.write_bytes(b"x" * 10)
    with pytest.raises(FetchError, match="another checksum; it was deleted"):
        pull(web.address, at.store, incoming)
    assert pull(web.address, at.store, incoming) == ASKED


def test_fetching_another_version_removes_earlier_downloads(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish(web, at, "0.3.0")
    pull(web.address, at.store, incoming)
    for name in (".pulled-0.3.0.part", "pulled-0.4.0rc1.release", ".pulled-10.4.0.part"):
        (incoming / name).write_bytes(b"x")
    publish(web, at, "0.4.0")
    pull(web.address, at.store, incoming)
    assert {path.name for path in incoming.iterdir()} == {"wanted", "pulled-0.4.0.release"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"version": "../../etc/0.3.0"}, "is no sheet"),
        ({"version": "new"}, "is no sheet"),
        ({"sha256": "0" * 64}, "another checksum"),
        ({"url": "file:///etc/passwd"}, "not a web address"),
        ({"url": "ftp://127.0.0.1/x"}, "not a web address"),
        ({"url": "none.release"}, "answered 404"),
        ({"more": "words"}, "is no sheet"),
        ({"version": "0.9.0"}, "no release of version 0.9.0"),
    ],
)
def test_a_sheet_that_cannot_be_used_leaves_no_file(
    at: Bench, incoming: Path, web: Web, changes: dict[str, str], why: str
) -> None:
    publish(web, at, **changes)
    with pytest.raises(FetchError, match=why):
        pull(web.address, at.store, incoming)
    assert [path for path in incoming.iterdir() if path.stat().st_size] == []


@pytest.mark.parametrize("data", [b"", b"[]", b"no JSON", b" " * (SHEET_BYTES + 1), b"\xff" * 99])
def test_an_invalid_sheet_is_refused(at: Bench, incoming: Path, web: Web, data: bytes) -> None:
    web.files["/fleet/sheet.json"] = data
    with pytest.raises(FetchError, match="sheet"):
        pull(web.address, at.store, incoming)


def test_only_http_addresses_and_redirects_are_followed(
    at: Bench, incoming: Path, web: Web
) -> None:
    publish(web, at)
    web.moved["/fleet/moved.json"] = web.address
    assert pull(web.address.replace("sheet", "moved"), at.store, incoming) == ASKED
    web.moved["/fleet/moved.json"] = "file:///etc/hostname"
    with pytest.raises(FetchError):
        pull(web.address.replace("sheet", "moved"), at.store, incoming)
    with pytest.raises(FetchError, match="not a web address"):
        pull("/etc/hostname", at.store, incoming)


@pytest.mark.parametrize("length", ["abc", "-1", "9" * 5000])
def test_a_length_that_is_no_number_is_refused_with_a_sentence(
    at: Bench, incoming: Path, web: Web, length: str
) -> None:
    publish(web, at)
    web.length = length
    with pytest.raises(FetchError, match="no number"):
        pull(web.address, at.store, incoming)
    assert not (incoming / "wanted").exists()


@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_a_download_never_writes_through_a_link_that_another_member_of_the_folder_laid(
    at: Bench, incoming: Path, web: Web, tmp_path: Path, kind: str
) -> None:
    publish(web, at)
    victim, part = tmp_path / "victim", incoming / ".pulled-0.3.0.part"
    victim.write_text("kept")
    if kind == "symlink":
        part.symlink_to(victim)
    else:
        part.hardlink_to(victim)
    with pytest.raises(StorageError):
        pull(web.address, at.store, incoming)
    assert victim.read_text() == "kept"


def test_the_error_for_an_unreachable_server_does_not_contain_the_login(
    at: Bench, incoming: Path, web: Web
) -> None:
    web.close()
    with pytest.raises(FetchError, match="cannot be reached") as raised:
        pull(web.address.replace("127", "me:hunter2@127") + "?hunter2", at.store, incoming)
    assert "hunter2" not in str(raised.value)


def test_missing_disk_space_is_reported_before_the_release_is_fetched(
    at: Bench, incoming: Path, web: Web
) -> None:
    need = len(publish(web, at)) + SPARE_BYTES
    with pytest.raises(StorageError, match="There is no room for the release"):
        pull(web.address, at.store, incoming, lambda _: need - 1)
    assert [path for path in incoming.iterdir() if path.stat().st_size] == []
    assert pull(web.address, at.store, incoming, lambda _: need) == ASKED


def test_only_a_look_that_succeeds_counts_as_one(web: Web, at: Bench, incoming: Path) -> None:
    """Otherwise nobody would be told of a server that an attacker holds back."""
    with pytest.raises(FetchError):
        cli_pull(web.address, incoming)
    assert not (incoming / SUCCEEDED).exists()
    publish(web, at)
    assert cli_pull(web.address, incoming) == 0
    assert (incoming / SUCCEEDED).exists()


def test_the_pull_command_requires_a_web_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PULL_URL", raising=False)
    assert main(["release", "pull"]) != 0
    assert "Name the address of the fleet's sheet" in capsys.readouterr().err
    monkeypatch.setenv("PULL_URL", "file:///etc/hostname")
    assert main(["release", "pull"]) == FetchError.exit_code
