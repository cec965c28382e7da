"""The policy's deadlines follow the settings and the process table."""

from __future__ import annotations

from pathlib import Path

from appliance.dialog.timeouts import dialog_policy
from appliance.settings import load


def test_the_deadlines_follow_the_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("")
    settings = load(tmp_path / "settings.yaml")
    usual = dialog_policy(settings)
    assert usual.verdict_s == settings.hearing.verdict.deadline_ms / 1000 + 0.3
    assert usual.needed == {"conductor", "playback", "capture", "listener"}
    assert (usual.grace_s, usual.toggle, usual.by_voice) == (
        0.3, False, frozenset({"wake_word"}),
    )  # fmt: skip
    remote = {"url": "http://localhost:1/v1", "timeout_s": 100}
    button = {"press": "toggle", "voice_interrupts": True}
    other = load(
        tmp_path / "settings.yaml",
        {"hearing": {"push_to_talk": button, "wake": {"barge_in": False}},
         "speaking": {"grace_ms": 0}},
    )  # fmt: skip
    assert (dialog_policy(other).grace_s, dialog_policy(other).toggle) == (0.0, True)
    assert dialog_policy(other).by_voice == {"push_to_talk"}
    slow = load(tmp_path / "settings.yaml", {"thinking": {"remote": remote}})
    assert dialog_policy(slow).think_s == 105.0
