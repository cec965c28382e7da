"""Scenes: defaults, and the errors of invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import SceneError
from lab.sim import scene
from lab.sim.rehearsal_cli import DEMO

HELLO = {"owner": [{"at_s": 0, "say": "hello"}]}


def test_the_built_in_scene_is_a_scene() -> None:
    assert len(scene.load(DEMO).owner) >= 4


def test_a_scene_of_one_line_gets_a_quiet_room_without_echo() -> None:
    loaded = scene.parse(HELLO, name="x", folder=Path())
    assert loaded.room.echo_db is None
    assert loaded.room.noise_db == -60


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ([], "a scene holds"),
        ({}, "has no entries"),
        ({"owner": []}, "has no entries"),
        ({"owner": [{"say": "x"}]}, "owner entry 1: give either `at_s` or `when`"),
        ({"owner": [{"at_s": 1, "when": "idle", "say": "x"}]}, "give either `at_s` or `when`"),
        ({"owner": [{"at_s": 1}]}, "give one of `say`, `wav` and `noise`"),
        ({"owner": [{"at_s": 1, "say": "x", "noise": "cough"}]}, "give one of"),
        ({"owner": [{"at_s": 1, "noise": "silence"}]}, "no noise silence"),
        ({"owner": [{"at_s": 1, "say": " "}]}, "`say` is empty"),
        ({"owner": [{"at_s": 1, "wav": "nowhere.wav"}]}, "no file nowhere.wav"),
        ({"owner": [{"at_s": -1, "say": "x"}]}, "at_s"),
        ({"owner": [{"when": "asleep", "say": "x"}]}, "when"),
        ({"owner": [{"at_s": 1, "say": "x", "kindd": "noise"}]}, "kindd"),
        ({**HELLO, "room": {"rt60_s": "long"}}, "rt60_s"),
        ({**HELLO, "room": {"noise": "train.wav"}}, "no noise file train.wav"),
        ({**HELLO, "rooms": {}}, "rooms"),
    ],
)
def test_an_invalid_scene_is_refused_with_the_place_of_the_error(
    raw: object, complaint: str
) -> None:
    with pytest.raises(SceneError, match=complaint):
        scene.parse(raw, name="x", folder=Path())


def test_a_file_that_is_not_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text("owner:\n  - {at_s: 1, say: [}\n")
    with pytest.raises(SceneError, match="not YAML near line 2"):
        scene.load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="cannot be read"):
        scene.load(tmp_path / "none.yaml")
