"""Mute, mode, volume and voice survive kills and power cuts; with real processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
from appliance.cli import tell
from appliance.dialog import mute_store
from appliance.errors import ControlError
from appliance.messages.commands import Mute, SetMode, SetVolume
from appliance.settings import adjusted
from tests.dialog.life import Life

pytestmark = pytest.mark.process


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    made = Life(tmp_path)
    yield made
    made.kill()


def test_a_kill_of_all_processes_unmutes_nothing(life: Life) -> None:
    assert life.tell(Mute(on=False)).state == "idle"
    assert not life.microphone_off()
    assert life.tell(Mute(on=True)).state == "muted"
    life.kill()  # at once: the file in memory is written before the reply
    life.start()
    assert life.microphone_off()
    assert life.tell(SetVolume(0.5)).state == "muted"
    assert life.microphone_off()
    life.until(lambda: life.stored_on_disk(muted=True))
    life.kill()
    (life.folder / "run" / mute_store.FILE).unlink()  # a power cut
    life.start()
    assert life.tell(SetVolume(0.6)).state == "muted"
    assert life.tell(Mute(on=False)).state == "idle"
    life.until(lambda: life.stored_on_disk(muted=False))
    life.kill()
    life.start()
    assert life.tell(SetVolume(0.5)).state == "idle"
    assert not life.microphone_off()


def test_a_conductor_crash_unmutes_nothing(life: Life) -> None:
    life.tell(Mute(on=True))
    before = life.pid("conductor")
    os.kill(before, signal.SIGKILL)
    life.until(lambda: life.microphone_off() and life.pid("conductor") != before)
    assert life.tell(SetVolume(0.5)).state == "muted"
    assert life.microphone_off()


def test_mode_and_volume_survive_a_kill(life: Life) -> None:
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.until(lambda: adjusted.adjusted(life.settings).speaking.volume == 0.43)
    life.until(lambda: adjusted.adjusted(life.settings).mode == "wake_word")
    life.kill()
    life.start()
    life.until(lambda: life.status[:2] == ["wake_word", "0.43"])


def test_the_last_value_of_a_dragged_slider_survives_a_stop(life: Life) -> None:
    for percent in range(30, 80):
        life.tell(SetVolume(percent / 100))
    life.stop()
    assert adjusted.adjusted(life.settings).speaking.volume == 0.79
    life.start()
    life.until(lambda: life.status[:2] == ["open", "0.79"])


def test_an_edit_of_the_settings_file_overrides_stored_choices(life: Life) -> None:
    button: dict[str, object] = {"panel": {"gpio": "keyboard"}}
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.stop()
    life.write({"speaking": {"volume": 0.6}, **button})
    life.start()
    life.until(lambda: life.status[:2] == ["wake_word", "0.6"])
    life.tell(SetMode("push_to_talk"))
    life.stop()
    life.write(button)  # a choice that the file has overridden does not return without its value
    life.start()
    life.until(lambda: life.status[:2] == ["push_to_talk", "0.8"])


def test_removing_the_button_ends_its_listening_mode(life: Life) -> None:
    life.tell(SetMode("wake_word"))
    with pytest.raises(ControlError, match=r"refuses that\. This box has no button"):
        tell.send_command(life.settings, SetMode("push_to_talk"))
    life.tell(SetMode("open"))
    life.stop()
    life.write({"panel": {"gpio": "keyboard"}})
    life.start()
    life.tell(SetMode("push_to_talk"))
    life.until(lambda: life.status[:1] == ["push_to_talk"])
    life.stop()
    life.write({"panel": {"gpio": "none"}})
    life.start()
    life.until(lambda: life.status[:1] == ["open"])


def test_a_restarted_conductor_keeps_the_stored_choices(life: Life) -> None:
    life.tell(SetVolume(0.43), SetMode("wake_word"))
    life.until(lambda: adjusted.adjusted(life.settings).mode == "wake_word")
    before = life.pid("conductor")
    life.status.clear()
    os.kill(before, signal.SIGKILL)
    life.until(lambda: life.status[:2] == ["wake_word", "0.43"])


@pytest.mark.parametrize("file", [mute_store.FILE, adjusted.FILE])
def test_damaged_files_prevent_no_start_and_open_no_microphone(life: Life, file: str) -> None:
    life.until(lambda: life.status)
    life.stop()
    write_private(life.folder / "state" / file, b"\x00{")
    life.start()
    life.until(lambda: life.status[:2] == ["open", "0.8"])
    assert life.microphone_off() == (file == mute_store.FILE)
    life.tell(Mute(on=False), SetVolume(0.3))
    assert not life.microphone_off()
    life.stop()
    life.start()
    life.until(lambda: life.status[:3] == ["open", "0.3", "False"])
    assert not life.microphone_off()


def _create(folder: Path) -> bool:
    """Create the directory; False while a file of this name is being written."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def test_a_card_that_cannot_be_written_is_reported_until_it_can(life: Life) -> None:
    life.until(lambda: life.status[3:] == ["False"])
    blocked = fresh_name(life.folder / "state" / mute_store.FILE)
    life.until(lambda: _create(blocked))
    life.tell(Mute(on=True))
    life.until(lambda: life.status[2:] == ["True", "True"])
    life.kill()
    life.start()  # the file in memory is read
    life.until(lambda: life.status[2:3] == ["True"])
    assert life.microphone_off()
    blocked.rmdir()
    life.tell(Mute(on=False))
    life.until(lambda: life.status[2:] == ["False", "False"])
