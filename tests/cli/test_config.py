"""What `interlude config` prints: every setting with its reason, or only the changed ones."""

from __future__ import annotations

from pathlib import Path

from appliance.cli import config as effective
from appliance.settings import load, load_defaults

# ── `interlude config` ───────────────────────────────────────────────────────────────────────
OWNERS = """
card: {period_ms: 4, capture: "plughw:CARD=Array", playback: "plughw:CARD=Array"}
thinking: {persona: "Say: 'yes' # or no\\nand smile", temperature: 0.7}
processes: {thinker: {cores: [1, 2, 3]}}
"""


def owners_file(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text)
    return path


def test_the_output_of_config_can_be_loaded_again(tmp_path: Path) -> None:
    settings = load(owners_file(tmp_path, OWNERS))
    assert load(owners_file(tmp_path, effective.whole(settings))) == settings


def test_the_output_of_config_keeps_every_reason_and_marks_changes(tmp_path: Path) -> None:
    printed = effective.whole(load(owners_file(tmp_path, OWNERS)))
    line = next(line for line in printed.splitlines() if "period_ms" in line)
    assert line.split("#")[0].split() == ["period_ms:", "4"]
    assert "the step in which" in line
    assert line.endswith("[default: 5]")
    assert "[default" not in effective.whole(load_defaults())


def test_config_changed_lists_only_changed_settings(tmp_path: Path) -> None:
    assert effective.changes(load_defaults()) == ""
    printed = effective.changes(load(owners_file(tmp_path, OWNERS)))
    assert [line.split(":")[0] for line in printed.splitlines()] == [
        "card.capture", "card.playback", "card.period_ms", "thinking.persona",
        "thinking.temperature", "processes.thinker.cores",
    ]  # fmt: skip


def test_config_names_the_file_in_effect(tmp_path: Path) -> None:
    assert effective.source(tmp_path / "mine.yaml").endswith("mine.yaml")
    assert effective.source(None).startswith("# The defaults")


def test_a_value_set_from_outside_is_shown_with_that_of_the_file(tmp_path: Path) -> None:
    now = load(owners_file(tmp_path, "speaking: {volume: 0.43}\n"))
    outside = {"speaking.volume": 0.6}
    [line] = [line for line in effective.whole(now, outside).splitlines() if "volume:" in line]
    assert "volume: 0.43" in line
    assert "[default: 0.8] [set from outside; the file: 0.6]" in line
    assert effective.changes(now, outside).count("[set from outside; the file: 0.6]") == 1
    assert load(owners_file(tmp_path, effective.whole(now, outside))) == now


def test_a_multi_line_or_empty_value_stays_on_one_line(tmp_path: Path) -> None:
    persona = "thinking: {persona: \"One.\\nTwo: 'three' # no remark\"}\n"
    settings = load(owners_file(tmp_path, persona))
    (line,) = effective.changes(settings).splitlines()
    assert line.startswith("thinking.persona: \"One.\\nTwo: 'three' # no remark\"")
    empty = load(owners_file(tmp_path, 'thinking: {persona: ""}\n'))
    assert effective.changes(empty).startswith('thinking.persona: ""')
