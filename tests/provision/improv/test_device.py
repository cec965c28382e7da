"""The box as an Improv device: who may send a Wi-Fi network, every state and every error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from improv_ble_client import protocol as theirs

from appliance.provision.improv.device import (
    PRESSED_S,
    PROVISION_S,
    WINDOW_S,
    IdentifyBox,
    ImprovDevice,
    SubmitSeed,
)
from appliance.provision.improv.packets import (
    ERROR,
    RESULT,
    ImprovProblem,
    ImprovState,
    packet,
)
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_site import MOST_TRIES

LATE = WINDOW_S + 1.0  # after the window in which no button is needed
HOME = theirs.WiFiSettingsCmd(b"Home", b"correct horse").as_bytes()
SEED = SubmitSeed(Seed(wifi=WifiNetwork(b"Home", "correct horse")))
ABOUT = ("Interlude", "1.2.3", "Raspberry Pi 5", "Kitchen")


@pytest.fixture
def device() -> ImprovDevice:
    return ImprovDevice(ABOUT, lambda: [("Home", -52, True)], 0.0)


def test_a_wifi_is_accepted_without_the_button_in_the_first_minutes_after_power_on(
    device: ImprovDevice,
) -> None:
    assert device.state(WINDOW_S - 1) is ImprovState.AUTHORIZED
    assert device.write(HOME, 100.0) == SEED
    assert device.state(100.0) is ImprovState.PROVISIONING
    assert device.problem is ImprovProblem.NONE


def test_later_a_wifi_is_accepted_only_after_a_press_of_the_button(device: ImprovDevice) -> None:
    assert device.state(LATE) is ImprovState.AUTHORIZATION_REQUIRED
    assert device.write(HOME, LATE) is None
    assert device.problem is ImprovProblem.NOT_AUTHORIZED
    device.press(LATE + 1)
    assert device.state(LATE + 2) is ImprovState.AUTHORIZED
    assert device.write(HOME, LATE + 2) == SEED
    assert not device.problem


def test_a_press_authorizes_for_a_minute_and_an_older_press_does_not_shorten_it(
    device: ImprovDevice,
) -> None:
    device.press(LATE)
    device.press(LATE - 100)
    assert device.state(LATE + PRESSED_S - 1) is ImprovState.AUTHORIZED
    assert device.state(LATE + PRESSED_S + 1) is ImprovState.AUTHORIZATION_REQUIRED


def test_a_joined_wifi_is_reported_with_the_address_of_the_page(device: ImprovDevice) -> None:
    device.write(HOME, 100.0)
    device.joined("http://kitchen.local")
    assert device.state(LATE) is ImprovState.PROVISIONED
    result = theirs.parse_result(device.result)
    assert isinstance(result, theirs.WiFiSettingsRes)
    assert result.redirect_url == b"http://kitchen.local"


@pytest.mark.parametrize("url", ["", "http://" + "x" * 260])
def test_an_empty_or_too_long_address_is_omitted_from_the_result(
    device: ImprovDevice, url: str
) -> None:
    device.write(HOME, 100.0)
    device.joined(url)
    assert device.result == packet(1)


def test_a_wifi_that_fails_after_a_press_may_be_sent_again_once_without_another_press(
    device: ImprovDevice,
) -> None:
    device.press(LATE)
    device.write(HOME, LATE + 1)
    device.failed(LATE + 60)
    assert device.problem is ImprovProblem.UNABLE_TO_CONNECT
    assert device.state(LATE + 60 + PRESSED_S - 1) is ImprovState.AUTHORIZED
    assert device.write(HOME, LATE + 61) == SEED
    device.failed(LATE + 100)
    assert device.state(LATE + 60 + PRESSED_S + 1) is ImprovState.AUTHORIZATION_REQUIRED


def test_a_wifi_that_fails_does_not_prolong_the_minutes_after_power_on(
    device: ImprovDevice,
) -> None:
    device.write(HOME, WINDOW_S - 1)
    device.failed(LATE)
    assert device.problem is ImprovProblem.UNABLE_TO_CONNECT
    assert device.state(LATE) is ImprovState.AUTHORIZATION_REQUIRED


def test_a_box_that_knows_a_wifi_accepts_another_only_after_a_press(device: ImprovDevice) -> None:
    device.settled = True
    assert device.write(HOME, 100.0) is None
    assert device.problem is ImprovProblem.NOT_AUTHORIZED
    device.press(101.0)
    assert device.write(HOME, 102.0) == SEED


def test_a_stranger_who_names_wifis_that_do_not_exist_is_refused_after_the_first_minutes(
    device: ImprovDevice,
) -> None:
    accepted_s = []
    for second in range(0, 7200, 15):
        name = b"no such Wi-Fi %d" % second
        command = theirs.WiFiSettingsCmd(name, b"correct horse").as_bytes()
        if device.write(command, float(second)) is not None:
            accepted_s.append(second)
            device.failed(second + 10.0)
    assert accepted_s
    assert max(accepted_s) < WINDOW_S


def test_an_attempt_without_a_result_times_out(device: ImprovDevice) -> None:
    device.write(HOME, 100.0)
    device.tick(100.0 + PROVISION_S - 1)
    assert device.state(101.0) is ImprovState.PROVISIONING
    device.tick(100.0 + PROVISION_S + 1)
    assert device.problem is ImprovProblem.UNABLE_TO_CONNECT
    device.tick(10_000.0)
    assert device.state(LATE * 2) is ImprovState.AUTHORIZATION_REQUIRED


def test_a_second_wifi_is_refused_during_an_attempt(device: ImprovDevice) -> None:
    device.write(HOME, 100.0)
    other = theirs.WiFiSettingsCmd(b"Other", b"another horse").as_bytes()
    assert device.write(other, 101.0) is None
    assert device.problem is ImprovProblem.NOT_AUTHORIZED
    assert device.state(101.0) is ImprovState.PROVISIONING


def test_a_reconnected_phone_may_send_the_same_wifi_again(
    device: ImprovDevice,
) -> None:
    device.write(HOME, 100.0)
    assert device.write(HOME, 101.0, "another connection") is None
    assert (device.problem, device.answered) == (ImprovProblem.NONE, ())
    device.joined("http://kitchen.local")
    result = device.result
    device.write(theirs.DeviceInfoCmd().as_bytes(), 102.0)
    assert device.write(HOME, 103.0) is None
    assert (device.problem, device.answered) == (ImprovProblem.NONE, (RESULT,))
    assert device.result == result


def test_the_password_under_trial_cannot_be_guessed(device: ImprovDevice) -> None:
    device.write(HOME, 100.0)
    for number in range(MOST_TRIES):
        other = theirs.WiFiSettingsCmd(b"Home", b"guess number %d" % number).as_bytes()
        device.write(other, 100.0)
    device.write(HOME, 100.0)
    assert device.problem is ImprovProblem.NOT_AUTHORIZED


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (theirs.DeviceInfoCmd().as_bytes(), (RESULT,)),
        (theirs.ScanWifiCmd().as_bytes(), (RESULT,)),
        (HOME, (ERROR,)),
        (b"\x09\x00\x09", (ERROR,)),
        (theirs.IdentifyCmd().as_bytes(), ()),
    ],
)
def test_a_repeated_command_is_answered_each_time(
    device: ImprovDevice, command: bytes, answer: tuple[str, ...]
) -> None:
    for _ in range(2):
        device.write(command, LATE)
        assert device.answered == answer


def test_a_result_without_an_attempt_changes_nothing(device: ImprovDevice) -> None:
    device.joined("http://kitchen.local")
    device.failed(1.0)
    assert device.state(2.0) is ImprovState.AUTHORIZED
    assert (device.problem, device.result) == (ImprovProblem.NONE, b"")


@pytest.mark.parametrize(
    ("name", "password"),
    [
        (b"", b"correct horse"), (b"x" * 33, b"correct horse"), (b"Home", b"short"),
        (b"Home", b"x" * 65), (b"Home", b"\xff" * 10), (b"\xff\xfe", b"correct horse"),
        (b"Ho\x00me", b"correct horse"), (b"Home", "Ümläute".encode()),
    ],
)  # fmt: skip
def test_a_wifi_that_the_setup_page_would_refuse_is_refused(
    device: ImprovDevice, name: bytes, password: bytes
) -> None:
    command = theirs.WiFiSettingsCmd(name, password).as_bytes()
    assert device.write(command, 100.0) is None
    assert device.problem is ImprovProblem.UNABLE_TO_CONNECT
    assert device.state(100.0) is ImprovState.AUTHORIZED


def test_the_number_of_attempts_in_a_row_is_limited(device: ImprovDevice) -> None:
    bad = theirs.WiFiSettingsCmd(b"Home", b"short").as_bytes()
    problems = []
    for _ in range(MOST_TRIES + 5):
        device.write(bad, 100.0)
        problems.append(device.problem)
    assert problems.count(ImprovProblem.UNABLE_TO_CONNECT) == MOST_TRIES
    assert problems[-1] is ImprovProblem.NOT_AUTHORIZED


def test_identify_and_device_info_need_no_authorization(
    device: ImprovDevice,
) -> None:
    assert device.write(theirs.IdentifyCmd().as_bytes(), LATE) == IdentifyBox()
    assert device.write(theirs.DeviceInfoCmd().as_bytes(), LATE) is None
    info = theirs.parse_result(device.result)
    assert isinstance(info, theirs.DeviceInfoRes)
    assert (info.firmware_name, info.firmware_version) == (b"Interlude", b"1.2.3")
    assert (info.hardware_chip, info.device_name) == (b"Raspberry Pi 5", b"Kitchen")


def test_identify_is_ignored_while_a_wifi_is_tried(device: ImprovDevice) -> None:
    device.write(HOME, 100.0)
    assert device.write(theirs.IdentifyCmd().as_bytes(), 101.0) is None


def test_the_network_list_is_limited_by_the_mtu(device: ImprovDevice) -> None:
    scan = theirs.ScanWifiCmd().as_bytes()
    device.write(scan, 100.0, mtu=185)
    found = theirs.parse_result(device.result)
    assert isinstance(found, theirs.ScanWifiRes)
    assert found.networks == [(b"Home", b"-52", b"WPA2")]
    device.write(scan, 100.0, mtu=0)
    assert len(device.result) <= 20


def test_a_device_name_that_is_too_long_is_truncated() -> None:
    device = ImprovDevice(("x" * 300,) * 4, list, 0.0)
    device.write(theirs.DeviceInfoCmd().as_bytes(), 1.0)
    assert isinstance(theirs.parse_result(device.result), theirs.DeviceInfoRes)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x02\x00\xff", ImprovProblem.INVALID_PACKET),
        (packet(9), ImprovProblem.UNKNOWN_COMMAND),
        (packet(1, [b"a"]), ImprovProblem.INVALID_PACKET),
    ],
)
def test_an_invalid_command_sets_an_error_until_the_next_valid_one(
    device: ImprovDevice, data: bytes, problem: ImprovProblem
) -> None:
    assert device.write(data, 100.0) is None
    assert device.problem is problem
    assert device.write(HOME, 101.0) == SEED
    assert device.problem is ImprovProblem.NONE


@given(
    st.booleans(),
    st.lists(
        st.tuples(
            st.sampled_from(["write", "press", "join", "fail", "tick"]),
            st.binary(max_size=40) | st.sampled_from([HOME, packet(2), packet(3), packet(4)]),
            st.floats(0, 400),
        ),
        max_size=40,
    ),
)
def test_in_any_sequence_of_events_a_wifi_is_accepted_only_in_the_first_minutes_or_after_a_press(
    settled: bool, events: list[tuple[str, bytes, float]]
) -> None:
    device = ImprovDevice(ABOUT, lambda: [("Home", -52, True)], 0.0, settled)
    now_s, pressed_s = 0.0, float("-inf")
    again = 0  # Wi-Fis accepted later than PRESSED_S after the last press
    for kind, data, later_s in events:
        now_s += later_s
        match kind:
            case "write":
                if isinstance(device.write(data, now_s), SubmitSeed) and (
                    settled or now_s >= WINDOW_S
                ):
                    since_s = now_s - pressed_s
                    assert since_s < PRESSED_S + PROVISION_S + PRESSED_S
                    again += since_s >= PRESSED_S
                    assert again <= 1
            case "press":
                device.press(now_s)
                pressed_s, again = now_s, 0
            case "join":
                device.joined("http://kitchen.local")
            case "fail":
                device.failed(now_s)
            case _:
                device.tick(now_s)
        assert len(device.result) <= 258
