"""docs/security.md: every test that it names exists, and every unit and user has a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.provision.submitted_form import SubmittedForm

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/security.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|image/test)/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_test_that_the_page_names_exists(file: str, name: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {name}\b" if name else r"^def test_", text, re.MULTILINE)


def test_the_page_names_the_tests_of_most_promises() -> None:
    assert len(NAMED) > 25


def test_every_unit_has_a_row_with_its_user() -> None:
    folder = ROOT / "system/usr/lib/systemd/system"
    for unit in folder.glob("interlude*.service"):
        user = re.search(r"^User=(\S+)", unit.read_text(encoding="utf-8"), re.MULTILINE)
        row = rf"^\| `{re.escape(unit.stem)}` \| {user[1] if user else 'root'} \|"
        assert re.search(row, PAGE, re.MULTILINE), unit.name


def test_the_number_of_set_up_fields_on_the_page_is_right() -> None:
    number = ("eight", "nine", "ten", "eleven", "twelve")[len(SubmittedForm.__struct_fields__) - 8]
    assert re.findall(r"(\w+) fields(?:; root| with a schema)", PAGE) == [number] * 2


def test_every_user_has_a_row() -> None:
    users = (ROOT / "system/usr/lib/sysusers.d/interlude.conf").read_text(encoding="utf-8")
    for user in re.findall(r"^u\s+(\S+)", users, re.MULTILINE):
        assert f"\n| `{user}` |" in PAGE
