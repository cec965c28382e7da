"""The pages for owners and admins say what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.__main__ import parser
from appliance.firstboot import forms
from appliance.firstboot.seed import check
from appliance.panel.light import PATTERNS, Pattern
from appliance.slots.slot import autoboot
from appliance.think.dialect import OFF
from appliance.think.refusals import away, refused, thinks

ROOT = Path(__file__).parents[1]
PAGES = ("flash", "fleet", "rescue", "security", "release-checklist")
COLOURS = {
    (1.0, 1.0, 1.0): "white", (1.0, 0.0, 0.0): "red", (1.0, 0.5, 0.0): "amber",
    (0.0, 0.3, 1.0): "blue", (0.0, 1.0, 0.2): "green", (0.7, 0.0, 1.0): "violet",
}  # fmt: skip


def page(name: str) -> str:
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def seen(pattern: Pattern) -> str:
    """A row's light, in words."""
    colour = COLOURS[pattern.colour]
    if pattern.shape == "steady":
        return f"{colour}, steady"
    if pattern.shape == "breath":
        return f"{colour}, breathes, {pattern.period_s:g} s"
    return f"{colour}, blinks {pattern.flashes} × in {pattern.period_s:g} s"


def test_the_page_has_every_light_in_the_order_of_the_table() -> None:
    told = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", page("rescue"), re.MULTILINE)
    lights = [row for row in told if re.match(r"white|red|amber|blue|green|violet", row[0])]
    assert lights == [(seen(pattern), pattern.says) for pattern in PATTERNS.values()]


def test_the_example_of_a_seed_is_one() -> None:
    example, own = re.findall(r"```yaml\n(.*?)```", page("flash"), re.DOTALL)
    seed = forms.read({"interlude.yaml": example.encode()})
    check(seed)
    assert seed.wifi is not None
    assert (seed.hostname, seed.broker, seed.model) == (
        "kitchen", "homeassistant.local", "gemma-4-e2b"
    )  # fmt: skip
    assert seed.keys
    seed = forms.read({"interlude.yaml": own.encode()})
    check(seed)
    assert list(seed.models) == [seed.model] == ["mine"]


def test_the_page_on_model_servers_has_every_field_and_every_sentence() -> None:
    told = page("model-server")
    assert all(f"`{field}: " in told for field in OFF)
    aloud = {refused("here", status, words).aloud for status, words in (
        (401, b""), (404, b""), (429, b""), (500, b"audio input is not supported"),
        (400, b"exceeds the available context size"), (400, b"does not support tools"), (500, b""),
    )}  # fmt: skip
    assert all(sentence in told for sentence in (*aloud, away("here", "").aloud))
    assert thinks("here").aloud in " ".join(told.split())


def test_the_files_that_start_a_slot_by_hand_are_those_of_the_box() -> None:
    told = re.findall(r"```\n(\[all\].*?)```", page("rescue"), re.DOTALL)
    assert told == [autoboot("a"), autoboot("b")]


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_a_page_may_be_typed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in re.findall(r"`interlude ([a-z][a-z -]*)`", page(name)):
        with pytest.raises(SystemExit) as ended:
            parser().parse_args([*command.split(), "--help"])
        assert ended.value.code == 0, f"{command}: {capsys.readouterr().err}"


@pytest.mark.parametrize("name", PAGES)
def test_links_and_paths_of_the_repository_lead_somewhere(name: str) -> None:
    text = page(name)
    for link in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (ROOT / "docs" / link).exists(), link
    for path in re.findall(r"`((?:ansible|tests|image|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_the_page_on_security_has_every_service() -> None:
    units = (ROOT / "system/usr/lib/systemd/system").glob("*.service")
    table = page("security").split("## Rights of each unit")[1]
    for unit in units:
        assert f"`{unit.stem}`" in table, unit.name


def test_every_line_of_the_checklist_says_who_tried_it_or_that_nobody_did() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", page("release-checklist"), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 30
    for number, state in rows:
        tried = re.search(r"\d{4}-\d{2}-\d{2}", state)
        assert state == "not run on hardware" or tried, number


def test_every_word_for_ansible_and_every_verb_of_make_is_one() -> None:
    texts = [page(name) for name in PAGES]
    texts += [(ROOT / name).read_text() for name in ("ansible/README.md", "image/README.md")]
    text = "\n".join(texts)
    ansible = [path for path in (ROOT / "ansible").rglob("*") if path.is_file()]
    known = "\n".join(path.read_text() for path in ansible if path.suffix in (".yml", ".j2"))
    for word in set(re.findall(r"\binterlude_\w+", text)):
        assert re.search(rf"\b{word}\b", known), word
    names = {path.name.removesuffix(".example") for path in ansible}
    for book in set(re.findall(r"(?<![\w./-])(\w+\.yml)\b", text)):
        assert book in names, book
    verbs = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for verb in re.findall(r"(?:`|^)make (?:-C \.\. )?([a-z-]+)", text, re.MULTILINE):
        assert verb in verbs, verb
