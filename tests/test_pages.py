"""Facts on the pages for owners and admins match the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.__main__ import parser
from appliance.errors import SeedRefused
from appliance.language.catalogue import english
from appliance.models import catalogue, download_news
from appliance.panel.light import PATTERNS, LightPattern
from appliance.provision import seed_parsers, wifi_errors
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.setup_sentences import NO_NETWORK, card_says
from appliance.settings import load
from appliance.think.server_dialect import OFF
from appliance.think.server_errors import refused, thinks, unreachable
from appliance.update.system.slot import autoboot
from tests.provision.seeds import KEY

ROOT = Path(__file__).parents[1]
CHECKLIST = "develop/release-checklist"
PAGES = ("flash", "models", "fleet", "rescue", "security", CHECKLIST)
ALL_PAGES = sorted(
    str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")
)
COLOURS = {
    (1.0, 1.0, 1.0): "white", (1.0, 0.0, 0.0): "red", (1.0, 0.5, 0.0): "amber",
    (0.0, 0.3, 1.0): "blue", (0.0, 1.0, 0.2): "green", (0.7, 0.0, 1.0): "violet",
}  # fmt: skip


def page(name: str) -> str:
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def description(pattern: LightPattern) -> str:
    """A light pattern as the page describes it."""
    colour = COLOURS[pattern.colour]
    if pattern.shape == "steady":
        return f"{colour}, steady"
    if pattern.shape == "breath":
        return f"{colour}, breathes, {pattern.period_s:g} s"
    return f"{colour}, blinks {pattern.flashes} × in {pattern.period_s:g} s"


def test_the_page_lists_every_light_in_the_order_of_the_table() -> None:
    written = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", page("rescue"), re.MULTILINE)
    lights = [row for row in written if re.match(r"white|red|amber|blue|green|violet", row[0])]
    assert lights == [(description(pattern), pattern.says) for pattern in PATTERNS.values()]


def blocks(name: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page(name), re.DOTALL)


def seed_of(text: str) -> Seed:
    seed = seed_parsers.parse_seed({"interlude.yaml": text.encode()})
    check(seed)
    return seed


def test_the_example_seed_is_refused_until_its_ssh_key_is_replaced() -> None:
    (example,) = blocks("flash")
    with pytest.raises(SeedRefused, match="ssh key number 1"):
        seed_of(example)
    seed = seed_of(example.replace("ssh-ed25519 AAAA… you@laptop", KEY))
    assert seed == Seed(hostname="kitchen", wifi=WifiNetwork(b"YOUR WI-FI", "ITS PASSWORD"),
    country="DE",
                        timezone="Europe/Berlin", keys=(KEY,))  # fmt: skip
    assert seed_of(example.partition("ssh_keys:")[0]).keys == ()


def test_every_optional_seed_line_is_valid_and_every_field_is_listed() -> None:
    table = page("flash").split("### More that you may say")[1].split("\nModels of your own")[0]
    lines = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert lines.pop(0) == "  hidden: yes"
    for line in lines:
        assert not seed_of(line).empty, line
    assert seed_of("wifi:\n  name: 'Home'\n  hidden: yes\n").wifi == WifiNetwork(
        b"Home", hidden=True
    )
    quoted = {line.partition(":")[0] for line in [*lines, *blocks("flash")[0].splitlines()]}
    fields = {
        name for name in seed_parsers.Own.__struct_fields__ if name != "models"
    }  # has its own page
    assert fields <= quoted


@pytest.mark.parametrize(
    ("name", "written"),
    [("starting", "white, breathes"), ("idle", "white, blinks once in 6 s"),
     ("no_card", "red, blinks three times in 4 s"), ("setup", "white, blinks once in 2 s"),
     ("fetching", "blue, breathes slowly"), ("no_broker", "amber, blinks twice in 4 s")],
)  # fmt: skip
def test_the_lights_of_the_first_hour_are_those_of_the_table(name: str, written: str) -> None:
    assert f"| {written} |" in page("flash")
    light, times = (
        description(PATTERNS[name]),
        {"once": "1 ×", "twice": "2 ×", "three times": "3 ×"},
    )
    for word, figure in times.items():
        written = written.replace(f"blinks {word}", f"blinks {figure}")
    assert light.startswith(written.removesuffix(" slowly"))


def test_the_spoken_sentences_on_the_page_are_those_of_the_box() -> None:
    quoted = re.findall(r'^\| "([^"]+) …"', page("flash"), re.MULTILINE)
    fetches = download_news.sentence(
        download_news.DownloadNews("gemma-4-e2b", "fetching"),
        catalogue.find("gemma-4-e2b"),
        english(),
    )
    sentences = (
        NO_NETWORK.text(english()),
        wifi_errors.sentence("Home", "secrets were").text(english()),
        card_says("", english()),
        fetches,
    )
    assert len(quoted) == len(sentences)
    for written, sentence in zip(quoted, sentences, strict=True):
        assert all(part in sentence for part in written.split(" … ")), (written, sentence)


def test_every_ascii_character_is_valid_between_single_quotes() -> None:
    """As the page says: a single quote is doubled, and no other character is special."""
    signs = "".join(chr(code) for code in range(0x20, 0x7F))
    for at in range(len(signs)):
        password = (signs[at:] + signs[:at])[:63]
        quoted = password.replace("'", "''")
        line = f"wifi: {{name: 'Home', password: '{quoted}'}}  # a remark"
        assert seed_of(line).wifi == WifiNetwork(b"Home", password)


def test_the_seed_settings_and_files_on_the_models_page_are_valid(tmp_path: Path) -> None:
    seed_text, settings_text = blocks("models")
    seed = seed_of(seed_text)
    assert list(seed.models) == [seed.model] == ["mine"]
    (tmp_path / "settings.yaml").write_text(settings_text)
    settings = load(tmp_path / "settings.yaml")
    assert (settings.thinking.model, list(settings.models)) == ("mine", ["mine"])
    model = catalogue.find("gemma-4-e2b")
    for file in model.files.values():
        where = f"https://huggingface.co/{model.repository}/resolve/{model.revision}/{file.path}"
        assert f"<{where}>" in page("models")


def test_the_page_on_model_servers_has_every_field_and_spoken_error() -> None:
    written = page("model-server")
    assert all(f"`{field}: " in written for field in OFF)
    spoken_keys = {refused("here", status, words).aloud for status, words in (
        (401, b""), (404, b""), (429, b""), (500, b"audio input is not supported"),
        (400, b"exceeds the available context size"), (400, b"does not support tools"), (500, b""),
    )}  # fmt: skip
    keys = {*spoken_keys, unreachable("here", "").aloud, thinks("here").aloud}
    one_line = " ".join(written.split())
    assert [key for key in keys if english().say(key) not in one_line] == []


def test_the_autoboot_files_on_the_page_are_those_of_the_box() -> None:
    written = re.findall(r"```\n(\[all\].*?)```", page("rescue"), re.DOTALL)
    assert written == [autoboot("a"), autoboot("b")]


@pytest.mark.parametrize("name", ALL_PAGES)
@pytest.mark.long
def test_every_command_on_a_page_exists(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = set(re.findall(r"`interlude ([a-z][a-z -]*)`", page(name)))
    known = parser()
    for command in sorted(commands):
        with pytest.raises(SystemExit) as ended:
            known.parse_args([*command.split(), "--help"])
        assert ended.value.code == 0, f"{command}: {capsys.readouterr().err}"


@pytest.mark.parametrize("name", PAGES)
def test_paths_of_the_repository_exist(name: str) -> None:
    for path in re.findall(r"`((?:ansible|tests|image|docs)/[\w./-]+)`", page(name)):
        assert (ROOT / path).exists(), path


def test_the_security_page_lists_every_service() -> None:
    units = (ROOT / "system/usr/lib/systemd/system").glob("*.service")
    table = page("security").split("## Rights of each unit")[1]
    for unit in units:
        assert f"`{unit.stem}`" in table, unit.name


def test_every_checklist_row_has_a_date_or_says_not_run() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", page(CHECKLIST), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 30
    for number, state in rows:
        tried = re.search(r"\d{4}-\d{2}-\d{2}", state)
        assert state == "not run on hardware" or tried, number


def test_every_ansible_name_and_make_verb_on_the_pages_exists() -> None:
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
