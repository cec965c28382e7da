"""A listening mode that this box cannot support cannot be chosen, and shows the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus
from tests.page.desk import Desk


def modes(desk: Desk, path: str, language: str = "en") -> dict[str, str]:
    """The options of the page's list: the text of each mode, with its tag."""
    page = desk.get(path, accept_language=language).body.decode()
    (listed,) = re.findall(r'<select id="mode".*?</select>', page, re.DOTALL)
    return {
        name: tag + words
        for tag, name, words in re.findall(r'(<option value="(\w+)"[^>]*>)([^<]*)', listed)
    }


@pytest.mark.parametrize("path", ["/", "/set"])
@pytest.mark.parametrize(("language", "says"), [("en", "no button"), ("de", "keinen Knopf")])
def test_without_a_button_push_to_talk_cannot_be_chosen(
    desk: Desk, path: str, language: str, says: str
) -> None:
    desk.pair()
    offered = modes(desk, path, language)
    assert set(offered) == {"open", "wake_word", "push_to_talk"}
    assert [name for name, words in offered.items() if "disabled" in words] == ["push_to_talk"]
    assert [name for name, words in offered.items() if says in words] == ["push_to_talk"]


@pytest.mark.parametrize("path", ["/", "/set"])
def test_with_a_button_all_modes_can_be_chosen(tmp_path: Path, path: str) -> None:
    desk = Desk(tmp_path, panel={"gpio": "keyboard"})
    desk.pair()
    desk.box.model.handle(BoxStatus("push_to_talk", False, 0.8), 0.0)
    offered = modes(desk, path)
    assert not any("disabled" in words or "button)" in words for words in offered.values())
    assert [name for name, words in offered.items() if "selected" in words] == ["push_to_talk"]
