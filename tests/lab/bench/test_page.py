"""The page under attack during a conversation: its limits, and what the box still hears.

The test counts and does not measure milliseconds, since test machines are busy.
"""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from appliance import settings
from appliance.messages.playback import Dropouts, PlaybackPaused, PlaybackResumed
from appliance.messages.viewing import LiveView
from appliance.page.connection_places import MOST_CONNECTIONS
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

OPEN_FILES = 40  # descriptors of the page other than connections
SOUNDS = 6


@pytest.mark.usefixtures("simcard_library")
def test_under_attack_the_page_keeps_its_limits_and_the_box_hears_every_sound(
    tmp_path: Path,
) -> None:
    espeak = {"language": "en", "speaking": {"voice": "espeak"}}
    config = with_page(settings.load(None, espeak), tmp_path, on=True)
    cookie, done = let_in(config), dict[str, int]()
    most_mib, most_open, noticed = 0.0, 0, 0
    seams: list[Seam] = []

    def act(stage: BenchHarness) -> None:
        nonlocal most_mib, most_open, noticed
        page = psutil.Process(stage.pid("page"))
        assert page.nice() >= 10, "the page must have a lower priority than the conversation"
        stage.start_talking()
        with visiting(config.page.port, cookie, (*VIEWERS, *ATTACK), done):
            for number in range(SOUNDS):
                if not stage.wait_until(stage.talking, 2.0):
                    stage.wait_until(stage.settled, 5.0)
                    stage.start_talking()
                at = stage.card.now() + 2 * LEAD
                stage.add_sound(at, knock(number) if number % 2 else murmur("mm-hm"))
                stage.wait_until(lambda at=at: any(stage.messages_since(PlaybackPaused, at)), 3.0)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                stage.wait_until(stage.settled, 5.0)
                stage.wait(2 * BEFORE / RATE_HZ)
                noticed += any(stage.messages_since(PlaybackPaused, at))
                most_mib = max(most_mib, pss_mib(page.pid))
                most_open = max(most_open, page.num_fds())
                seams.extend(undisturbed_seams(stage, at))
        assert stage.supervisor.parts["page"].starts == 1
        beats = (stage.card.now() - stage.started) / RATE_HZ / BEAT_S
        assert len(list(stage.recording.messages_of(LiveView))) <= 4 * (beats + 1)
        size, _ = open_page(config.page.port, cookie)  # the page serves requests again
        assert size < 1000 * MOST_KB

    stage = BenchHarness(QUIET, config, act, parts=(*WITHOUT_THINKER, "page"), state=tmp_path)
    stage.play()
    assert most_mib < MOST_PSS_MIB
    assert most_open <= MOST_CONNECTIONS + BACKLOG + OPEN_FILES  # some are being refused
    assert noticed >= SOUNDS - 1, "at most one may fall into a gap of the box's speech"
    assert [(seam_found.lost_samples, seam_found.repeated_samples) for seam_found in seams] == [
        (0, 0)
    ] * len(seams)
    assert_all_attacks_were_made(done)


def undisturbed_seams(stage: BenchHarness, at: int) -> list[Seam]:
    """The seams of resumed pauses since `at`; none if there was a playback dropout."""
    found: list[Seam] = []
    if any(m.direction == "playback" for m in stage.messages_since(Dropouts, at)):
        return []
    for pause in stage.messages_since(PlaybackPaused, at):
        resumes = [m for m in stage.messages_since(PlaybackResumed, at) if m.serial == pause.serial]
        seam = read_seam(stage, pause, resumes[0]) if resumes else None
        found += [seam] if seam is not None else []
    return found


def assert_all_attacks_were_made(done: dict[str, int]) -> None:
    """Check that every attack was made and that none succeeded."""
    assert done["live views"] >= len(VIEWERS)
    assert done["bytes of events"] > 0
    assert done["another host, 421"] > 0
    assert done["another origin, 403"] > 0
    assert done["slow requests"] >= 10
    assert done["connections of a crowd"] >= MOST_CONNECTIONS
    assert done["uploads of a gigabyte"] > 0
    taken = done["bytes of them taken"] / done["uploads of a gigabyte"]
    assert taken < 16 << 20, "more than the sender's buffers hold"
    assert done["views opened and left"] > MOST
    guessed = {name for name in done if name.startswith("a code, ")}
    assert guessed <= {"a code, 403", "a code, 429"}
    assert not [name for name in done if name.endswith((", 200", ", 303", ", 500"))]
