"""The owner's own models: two files with size and checksum, and a valid name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.settings import load
from appliance.settings.models import OwnModel
from tests.settings.written import refused, written


def file(name: str, **changes: Any) -> dict[str, Any]:
    return {"file": name, "size": 1, "sha256": "0" * 64, **changes}


TEXT, AUDIO = file("text.gguf"), file("audio.gguf")


def row(name: str = "mine", **fields: Any) -> str:
    return json.dumps({"models": {name: {"text": TEXT, "audio": AUDIO, **fields}}})


def test_a_row_needs_only_its_files(tmp_path: Path) -> None:
    mine = load(written(tmp_path, row())).models["mine"]
    assert isinstance(mine, OwnModel)
    assert (mine.text.file, mine.audio.file) == ("text.gguf", "audio.gguf")
    assert (mine.repository, mine.persona, mine.transcribes) == ("", None, True)


@pytest.mark.parametrize("name", ["Mine", "a/b", "-mine", "", "x" * 41, "../mine"])
def test_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    assert "is no name for a model" in refused(tmp_path, row(name))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"audio": TEXT}, "`text` and `audio` are two files"),
        ({"text": file("../../etc/passwd.gguf")}, "`models.mine.text.file`"),
        ({"text": file("model.bin")}, "`models.mine.text.file`"),
        ({"text": file("text.gguf", sha256="0" * 63)}, "`models.mine.text.sha256`"),
        ({"text": file("text.gguf", sha256="G" * 64)}, "`models.mine.text.sha256`"),
        ({"text": file("text.gguf", size=0)}, "`models.mine.text.size`"),
        ({"repository": "one"}, "`models.mine.repository`"),
        ({"repository": "a/b/c"}, "`models.mine.repository`"),
        ({"revision": "main"}, "`models.mine.revision`"),
        ({"voice": "amy"}, "unknown field `voice`"),
    ],
)
def test_a_row_that_cannot_be_fetched_or_verified_is_refused(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    assert message in refused(tmp_path, row(**fields))


def test_a_row_without_one_of_the_files_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"models": {"mine": {"text": TEXT}}})
    assert "missing required field `audio`" in refused(tmp_path, text)
