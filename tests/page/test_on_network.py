"""Wi-Fi, time zone and the broker test: requested from privileged units, with their results."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from appliance.runtime.broker_certificate import (
    FILE,
    CertificatePin,
    CertificatePins,
    in_pairs,
)
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.runtime.network_status import NetworkStatus, write_status
from appliance.settings.network_change import (
    BROKER_TRIAL,
    NETWORK,
    BrokerTrial,
    NetworkChange,
)
from tests.page.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    for name in ("wanted", "changed"):
        (tmp_path / name).mkdir()
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    made = Desk(tmp_path, handed=True)
    made.pair()
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def send(desk: Desk, form: str, **fields: str) -> int:
    return desk.post("/set/network", {"form": form, "token": desk.token, **fields}).status


def asked(folder: Path) -> NetworkChange:
    return msgspec.json.decode((folder / "wanted" / NETWORK).read_bytes(), type=NetworkChange)


def tell_page(folder: Path, problem: str = "", names: tuple[str, ...] = ()) -> None:
    told = RequestOutcome(asked(folder).id, problem, names=names)
    (folder / "wanted" / NETWORK).unlink()
    tell(NETWORK, told, folder / "changed")


def test_an_unconfirmed_wifi_is_named_on_every_page_and_confirmed_by_a_paired_browser(
    desk: Desk, folder: Path
) -> None:
    assert "Yes, it is mine" not in desk.text("/set/network")
    write_status(NetworkStatus(unconfirmed="Street <b>"), folder)
    for path in ("/", "/set", "/own"):
        assert "in the Wi-Fi Street &lt;b&gt;, which was typed in without" in desk.text(path)
    assert "Yes, it is mine" in desk.text("/set/network")
    assert send(desk, "confirm") == 303
    assert asked(folder).doing == "confirm"


def test_a_stranger_neither_reads_nor_confirms_the_name_of_an_unconfirmed_wifi(
    desk: Desk, folder: Path
) -> None:
    write_status(NetworkStatus(unconfirmed="Street"), folder)
    token = desk.token
    desk.cookies.clear()
    assert "Street" not in desk.text("/")
    assert desk.post("/set/network", {"form": "confirm", "token": token}).status == 403
    assert not (folder / "wanted" / NETWORK).exists()


def test_a_wifi_change_is_requested_and_its_password_is_never_shown(
    desk: Desk, folder: Path
) -> None:
    assert send(desk, "wifi", wifi="Home", password="correct staple", hidden="on") == 303
    request = asked(folder)
    assert (request.doing, request.wifi, request.password) == ("wifi", "Home", "correct staple")
    assert request.hidden
    assert (folder / "wanted" / NETWORK).stat().st_mode & 0o777 == 0o600
    page = desk.text("/set/network")
    assert "The change is being made" in page
    assert 'http-equiv="refresh"' in page
    assert "staple" not in page
    tell_page(folder)
    page = desk.text("/set/network")
    assert "It is done." in page
    assert 'http-equiv="refresh"' not in page


def test_a_wifi_that_refuses_the_password_is_reported(desk: Desk, folder: Path) -> None:
    send(desk, "wifi", wifi="Home", password="wrong staple")
    tell_page(folder, "The password of Home does not fit.")
    page = desk.text("/set/network")
    assert "does not fit" in page
    assert "It is done" not in page


def test_the_networks_in_reach_can_be_chosen(desk: Desk, folder: Path) -> None:
    assert send(desk, "look") == 303
    assert asked(folder).doing == "look"
    tell_page(folder, names=("Home", "<Caf&eacute;>"))
    page = desk.text("/set/network")
    assert '<option value="Home">' in page
    assert "<Caf" not in page


def test_a_time_zone_change_is_requested(desk: Desk, folder: Path) -> None:
    page = desk.text("/set/network")
    assert "selected>Europe/Berlin" in page
    assert send(desk, "timezone", timezone="Europe/Paris") == 303
    assert asked(folder) == NetworkChange(asked(folder).id, "timezone", timezone="Europe/Paris")


def test_a_second_request_waits_for_the_first(desk: Desk) -> None:
    assert send(desk, "look") == 303
    assert send(desk, "wifi", wifi="Home") == 400


def test_a_missing_result_is_reported_after_a_timeout(desk: Desk) -> None:
    send(desk, "look")
    desk.now_s += 61
    assert "The change was not carried out" in desk.text("/set/network")


@pytest.mark.parametrize("form", ["", "reset", "hostname"])
def test_an_unknown_form_requests_nothing(desk: Desk, folder: Path, form: str) -> None:
    assert send(desk, form, wifi="Home") == 400
    assert list((folder / "wanted").iterdir()) == []


def test_a_box_without_our_image_has_no_network_page(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.pair()
    assert desk.get("/set/network").status == 404
    assert send(desk, "wifi", wifi="Home") == 404
    assert "/set/network" not in desk.text("/set")


def trial(desk: Desk, **fields: str) -> int:
    named = {key.replace("__", "."): value for key, value in fields.items()}
    return desk.post("/set/broker", {"form": "house", "token": desk.token, **named}).status


def test_a_broker_is_tested_with_the_typed_values_before_they_are_saved(
    desk: Desk, folder: Path
) -> None:
    typed = {"link__broker": "ha.local", "link__port": "1884", "link__user": "bob"}
    assert trial(desk, **typed, link__tls="on", secret="correct staple") == 303
    request = msgspec.json.decode((folder / "wanted" / BROKER_TRIAL).read_bytes(), type=BrokerTrial)
    assert (request.broker, request.port, request.user) == ("ha.local", 1884, "bob")
    assert (request.tls, request.password) == (True, "correct staple")
    page = desk.text("/set")
    assert "is being tested" in page
    assert 'value="ha.local"' in page
    assert "staple" not in page
    assert not (folder / "settings.yaml").exists()
    outcome = RequestOutcome(request.id, names=("The broker lets us in: MQTT 5.",))
    tell(BROKER_TRIAL, outcome, folder / "changed")
    page = desk.text("/set")
    assert "lets us in: MQTT 5." in page
    assert 'value="ha.local"' in page


def test_a_broker_refusal_is_shown_with_its_remedy(desk: Desk, folder: Path) -> None:
    trial(desk, link__broker="ha.local")
    request = msgspec.json.decode((folder / "wanted" / BROKER_TRIAL).read_bytes(), type=BrokerTrial)
    tell(BROKER_TRIAL, RequestOutcome(request.id, "No.", "Ask."), folder / "changed")
    assert "No. Ask." in desk.text("/set")


@pytest.mark.parametrize("port", ["-1", "65536", "many", "1.5", "١"])
def test_an_invalid_port_is_not_tested(desk: Desk, folder: Path, port: str) -> None:
    assert trial(desk, link__broker="ha.local", link__port=port) == 400
    assert list((folder / "wanted").iterdir()) == []


def test_without_page_unmute_only_the_configured_broker_is_tested(desk: Desk, folder: Path) -> None:
    link = "link: {broker: ha.local, port: 1884, user: bob, unmute: true}\n"
    (folder / "settings.yaml").write_text(f"page: {{unmute: false}}\n{link}")
    typed = {"link__broker": "ha.local", "link__port": "1884", "link__user": "bob"}
    for other in ({"link__broker": "10.0.0.9"}, {"link__tls": "on"}, {"secret": "correct staple"}):
        assert trial(desk, **{**typed, **other}) == 400
    assert list((folder / "wanted").iterdir()) == []
    assert trial(desk, **typed) == 303
    assert [path.name for path in (folder / "wanted").iterdir()] == [BROKER_TRIAL]


def test_without_the_systemd_unit_the_page_offers_no_broker_test(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.pair()
    assert "/set/broker" not in desk.text("/set")
    assert trial(desk, link__broker="ha.local") == 400


PIN = CertificatePin("ha.local:8883", "ab" * 32)
OTHER = "cd" * 32


def test_another_certificate_of_the_broker_is_shown_and_accepted(desk: Desk, folder: Path) -> None:
    pins = CertificatePins(folder / FILE)
    pins.save(PIN)
    assert "another certificate" not in desk.text("/set")
    pins.save(msgspec.structs.replace(PIN, refused=OTHER))
    page = desk.text("/set")
    assert "The broker at ha.local:8883 shows another certificate" in page
    assert in_pairs(OTHER) in page
    sent = {"token": desk.token, "form": "certificate"}
    assert desk.post("/set/certificate", {**sent, "sha256": "ef" * 32}).status == 303
    assert pins.stored() == msgspec.structs.replace(PIN, refused=OTHER)  # not the one that was seen
    assert desk.post("/set/certificate", {**sent, "sha256": OTHER}).status == 303
    assert pins.stored() == CertificatePin(PIN.place, OTHER)
    assert "another certificate" not in desk.text("/set")
    assert desk.post("/set/certificate", {**sent, "sha256": ""}).status == 303
    assert pins.stored() == CertificatePin(PIN.place, OTHER)


def test_a_page_that_may_not_choose_a_broker_accepts_no_certificate(
    desk: Desk, folder: Path
) -> None:
    (folder / "settings.yaml").write_text("page: {unmute: false}\n")
    pins = CertificatePins(folder / FILE)
    pins.save(msgspec.structs.replace(PIN, refused=OTHER))
    sent = {"token": desk.token, "form": "certificate", "sha256": OTHER}
    assert desk.post("/set/certificate", sent).status == 400
    assert pins.stored() == msgspec.structs.replace(PIN, refused=OTHER)


def test_a_trial_of_the_broker_knows_the_certificate_that_the_box_remembers(
    desk: Desk, folder: Path
) -> None:
    CertificatePins(folder / FILE).save(PIN)
    form = {"token": desk.token, "form": "house", "link.broker": "ha.local", "link.tls": "on"}
    assert desk.post("/set/broker", form).status == 303
    trial = msgspec.json.decode((folder / "wanted" / BROKER_TRIAL).read_bytes(), type=BrokerTrial)
    assert (trial.pinned_at, trial.pinned) == (PIN.place, PIN.sha256)
