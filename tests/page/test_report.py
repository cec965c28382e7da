"""The text for a bug report: what it contains, and what it never contains."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.language.catalogue import english
from appliance.page import report
from appliance.settings import load_text

OWN = """
thinking: {persona: "I live with CANARY in Ghent.", model: gemma-4-e2b, temperature: 0.5}
link: {broker: canary.local, user: canary, name: Canary kitchen, words: true}
hearing: {wake: {phrase: hey canary}}
tools: {confirm: [canary door]}
mode: wake_word
"""


def test_settings_are_reported_by_numbers_switches_and_list_names_without_free_text() -> None:
    found = "\n".join(report.settings_lines(load_text(OWN, "own")))
    assert "canary" not in found.lower()
    for line in ("mode: wake_word", "thinking.model: gemma-4-e2b", "thinking.temperature: 0.5",
                 "link.words: True", "thinking.persona: (left out)"):  # fmt: skip
        assert line in found
    assert report.settings_lines(load_text("", "none")) == ["none"]


@pytest.mark.parametrize(
    "line",
    ["joined 'canary' on wlan0", 'ssid="canary"', "ssid=canary, again", "canary@house.example in",
     "mqtt://canary:pass@10.0.0.1/x", "Accepted publickey for Canary from 10.0.0.9",
     "canary.local is away"],
)  # fmt: skip
def test_a_log_line_contains_no_names_of_the_household(line: str) -> None:
    assert "canary" not in report.redacted(line, ("Canary", "canary.local")).lower()


@pytest.mark.parametrize(
    "line",
    ["couldn't join 'canary'", "it's 'Anna's canary' that isn't there", "no such name: b'canary'",
     "the boxes' name 'canary' is taken", "‘Anna’s canary’ is away", "cut off in 'the canary",
     'cut off in "the canary',
     'wlan0: SSID-TEMP-DISABLED id=0 ssid="Anna, \\"canary\\", again" reason=WRONG_KEY'],
)  # fmt: skip
def test_quoted_text_is_left_out_for_any_name(line: str) -> None:
    assert "canary" not in report.redacted(line, ())


NAMES = ["canary", "Canary's house", 'the "canary"', "10.0.0.1 canary", "password. canary"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", english().templates("wifi-"))
def test_the_boxs_own_sentence_about_a_wifi_omits_its_name(key: str, name: str) -> None:
    named = "{wifi}" in english().templates("wifi-")[key]
    sentence = english().say(key, wifi=name)
    for begin in ("", "2026-11-23T10:00:00+0100 box interlude[9]: ", f"wifi: {'x' * 260} "):
        line = report.redacted(f"{begin}{sentence}", ())
        assert "canary" not in line.lower()
        assert line.startswith(begin[:200])
    whole = report.redacted(sentence, ())
    assert whole == english().say(key, wifi=report.LEFT_OUT)
    assert (report.LEFT_OUT in whole) == named


def test_a_line_too_long_to_be_searched_is_left_out() -> None:
    assert report.redacted("x " * 2000 + "canary", ()) == report.LEFT_OUT
    assert len(report.redacted("x " * 1999, ())) == report.MOST_LINE


def test_an_apostrophe_is_not_taken_for_a_quote() -> None:
    line = "the box can't open the card, and won't until it's there"
    assert report.redacted(line, ()) == line


@pytest.mark.parametrize(
    "address",
    [
        "192.168.1.20",
        "dc:a6:32:01:02:03",
        "fe80::dea6:32ff:fe01:203",
        "2a02:aa:1:2::9",
        "2a02:aa:1:2:3:4:5:6",
    ],
)
def test_an_address_is_left_out(address: str) -> None:
    line = report.redacted(f"interlude[12]: no answer of {address} in 2.5 s", ())
    assert address not in line
    assert line.startswith("interlude[12]: no answer of")
    assert line.endswith("in 2.5 s")


def test_a_line_without_names_is_unchanged() -> None:
    line = "2026-11-22T10:00:00+0100 box interlude[99]: 12 dropouts in 60 s"
    assert report.redacted(line, ("", "ab")) == line


def test_the_last_complete_lines_of_a_long_log_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "warnings.log"
    assert report.read_tail(log) is None
    log.write_text("".join(f"line {number:06d}\n" for number in range(10_000)))
    found = report.read_tail(log)
    assert found is not None
    assert found[-1] == "line 009999"
    assert all(len(line) == 11 for line in found)
    assert report.TAIL_BYTES - 24 < 12 * len(found) <= report.TAIL_BYTES
    log.write_bytes(b"\xff\xfe\n")
    assert report.read_tail(log) == ["\ufffd\ufffd"]
