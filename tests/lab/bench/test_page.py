"""The page under attack beside a conversation, in seconds: what is bounded, and what is heard.

Counts, not milliseconds: a machine that tests run on is busy with other things.
"""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from appliance import settings
from appliance.messages.playback import Dropouts, PlaybackPaused, PlaybackResumed
from appliance.messages.viewing import LiveView
from appliance.page.http_server import MOST_CONNECTIONS
from appliance.page.page import BEAT_S
from appliance.page.viewers import MOST
from appliance.pcm import RATE_HZ
from appliance.runtime.listening_socket import BACKLOG
from lab.bench.harness import LEAD, QUIET, WITHOUT_THINKER, BenchHarness
from lab.bench.page import (
    MOST_KB,
    MOST_PSS_MIB,
    let_in,
    open_page,
    pss_mib,
    visiting,
    with_page,
)
from lab.bench.page_visitors import ATTACK, VIEWERS
from lab.bench.seam import BEFORE, knock, murmur, read_seam
from lab.sim.seam_measure import Seam

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

OPEN_FILES = 40  # descriptors of the page that are no connection
SOUNDS = 6


@pytest.mark.usefixtures("simcard_library")
def test_under_attack_the_page_keeps_its_limits_and_the_box_hears_every_word(
    tmp_path: Path,
) -> None:
    espeak = {"language": "en", "speaking": {"voice": "espeak"}}
    told = with_page(settings.load(None, espeak), tmp_path, on=True)
    cookie, done = let_in(told), dict[str, int]()
    most_mib, most_open, heard = 0.0, 0, 0
    seams: list[Seam] = []

    def act(stage: BenchHarness) -> None:
        nonlocal most_mib, most_open, heard
        page = psutil.Process(stage.pid("page"))
        assert page.nice() >= 10, "whoever talks goes first"
        stage.start_talking()
        with visiting(told.page.port, cookie, (*VIEWERS, *ATTACK), done):
            for number in range(SOUNDS):
                if not stage.wait_until(stage.talking, 2.0):
                    stage.wait_until(stage.settled, 5.0)
                    stage.start_talking()
                at = stage.card.now() + 2 * LEAD
                stage.add_sound(at, knock(number) if number % 2 else murmur("mm-hm"))
                stage.wait_until(lambda at=at: any(stage.messages_since(PlaybackPaused, at)), 3.0)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                stage.wait_until(stage.settled, 5.0)
                stage.wait(2 * BEFORE / RATE_HZ)
                heard += any(stage.messages_since(PlaybackPaused, at))
                most_mib = max(most_mib, pss_mib(page.pid))
                most_open = max(most_open, page.num_fds())
                seams.extend(whole_seams(stage, at))
        assert stage.supervisor.parts["page"].starts == 1
        beats = (stage.card.now() - stage.started) / RATE_HZ / BEAT_S
        assert len(list(stage.recording.messages_of(LiveView))) <= 4 * (beats + 1)
        size, _ = open_page(told.page.port, cookie)  # whoever was refused is served again
        assert size < 1000 * MOST_KB

    stage = BenchHarness(QUIET, told, act, parts=(*WITHOUT_THINKER, "page"), state=tmp_path)
    stage.play()
    assert most_mib < MOST_PSS_MIB
    assert most_open <= MOST_CONNECTIONS + BACKLOG + OPEN_FILES  # some are just being refused
    assert heard >= SOUNDS - 1, "one may fall into a gap of the box's own speech"
    assert [(each.lost_samples, each.repeated_samples) for each in seams] == [(0, 0)] * len(seams)
    assert_all_attacks_were_made(done)


def whole_seams(stage: BenchHarness, at: int) -> list[Seam]:
    """Pauses since `at` that were taken back and lie beside no dropout."""
    found: list[Seam] = []
    if any(m.direction == "playback" for m in stage.messages_since(Dropouts, at)):
        return []
    for pause in stage.messages_since(PlaybackPaused, at):
        back = [m for m in stage.messages_since(PlaybackResumed, at) if m.serial == pause.serial]
        seam = read_seam(stage, pause, back[0]) if back else None
        found += [seam] if seam is not None else []
    return found


def assert_all_attacks_were_made(done: dict[str, int]) -> None:
    """And none of them came through."""
    assert done["live views"] >= len(VIEWERS)
    assert done["bytes of events"] > 0
    assert done["another host, 421"] > 0
    assert done["another origin, 403"] > 0
    assert done["slow requests"] >= 10
    assert done["connections of a crowd"] >= MOST_CONNECTIONS
    assert done["uploads of a gigabyte"] > 0
    taken = done["bytes of them taken"] / done["uploads of a gigabyte"]
    assert taken < 16 << 20, "what the sender's own buffers take"
    assert done["views opened and left"] > MOST
    guessed = {name for name in done if name.startswith("a code, ")}
    assert guessed <= {"a code, 403", "a code, 429"}
    assert not [name for name in done if name.endswith((", 200", ", 303", ", 500"))]
