"""An error about a value has a sentence of the catalogue and a text for the command line."""

from __future__ import annotations

import pytest

from appliance.errors import SettingsError, ShownAs
from appliance.settings.loading import load_text


def refused(text: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_text(text, "mine.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("link: {port: abc}", "page-wrong-type", {"setting": "link.port", "kind": "whole"}),
        ("link: {tls: 3}", "page-wrong-type", {"setting": "link.tls", "kind": "switch"}),
        ("link: {name: 3}", "page-wrong-type", {"setting": "link.name", "kind": "text"}),
        ("link: {port: -1}", "page-wrong-least", {"setting": "link.port", "limit": "0"}),
        ("link: {port: 70000}", "page-wrong-most", {"setting": "link.port", "limit": "65535"}),
        (
            "hearing: {wake: {sensitivity: 1.5}}",
            "page-wrong-most",
            {"setting": "hearing.wake.sensitivity", "limit": "1"},
        ),
        (f"link: {{name: {'x' * 70}}}", "page-wrong-longer", {"setting": "link.name", "most": 60}),
        ("panel: {night: late}", "page-wrong-form", {"setting": "panel.night"}),
        (
            "mode: shut",
            "page-wrong-choice",
            {"setting": "mode", "value": "shut", "choices": "open, push_to_talk, wake_word"},
        ),
        ("language: xx", "setup-page-wrong-language", {"value": "xx"}),
        ("hearing: {wake: {phrase: HEY}}", "page-wrong-phrase", {"phrase": "HEY"}),
        ("link: {xyz: x}", "page-wrong-unknown-key", {"setting": "link.xyz"}),
        (
            "link: {nam: x}",
            "page-wrong-unknown-key-near",
            {"setting": "link.nam", "near": "link.name"},
        ),
        (
            "processes: {panel: {nice: 50}}",
            "page-wrong-most",
            {"setting": "processes.panel.nice", "limit": "19"},
        ),
    ],
)
def test_a_refused_value_names_its_sentence_and_the_sentences_values(
    text: str, key: str, values: dict[str, str | int | float]
) -> None:
    assert refused(text).shown == ShownAs(key, values)


def test_the_command_line_prints_the_plain_error_text() -> None:
    assert str(refused("link: {port: 70000}")) == (
        "mine.yaml: `link.port`: expected `int` <= 65535. See `interlude config`."
    )
    assert str(refused("mode: shut")).endswith("There are open, push_to_talk, wake_word.")


@pytest.mark.parametrize("text", ["a: [", "hearing: {turn: {ask_ms: [3, 2]}}"])
def test_an_error_without_a_sentence_has_none_to_show(text: str) -> None:
    assert refused(text).shown is None
