"""Writes an owner's settings file, and returns the error for one that is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import SettingsError
from appliance.settings import load


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, text))
    assert caught.value.exit_code == 78
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence
