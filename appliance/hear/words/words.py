"""[process] Words: reads the ring `near`, reports the words of an interjection and the wake word.

Nobody waits for it: what comes too late for a verdict changes none. Without a recogniser, or
without the wake word's, it says so once and does what it can.
"""

from __future__ import annotations

import select
import time

from appliance.errors import InterludeError
from appliance.hear.words import backends
from appliance.hear.words.decoder import WordDecoder
from appliance.messages.commands import BoxStatus
from appliance.messages.registry import Message
from appliance.messages.viewing import LiveView
from appliance.runtime.ipc.floor import WORDS_REST
from appliance.runtime.worker import Worker

_LOOK_MS = 30  # between two looks while all sound comes: 33 a second, not 200
_POLL_MS = 1000
_AT_ONCE = 100  # slots, half a second of sound: who is too slow must still beat, and hear of a mode


def _follow(message: Message, understanding: WordDecoder) -> None:
    """Do as the box does, and as who looks at its page wants."""
    if isinstance(message, BoxStatus):
        understanding.waiting = message.mode == "wake_word" and not message.muted
    elif isinstance(message, LiveView):
        understanding.watched = message.on


def main(work: Worker) -> None:
    """Understand until told to stop."""
    hearing = work.settings.hearing
    recogniser = backends.recogniser(work.settings)
    spotter = None
    try:
        spotter = backends.wake_word_spotter(work.settings)
    except InterludeError as error:  # the words over the box can be understood all the same
        work.log.error("%s", error)
    understanding = WordDecoder(hearing.words, recogniser, spotter, hearing.turn.longest_ms)
    understanding.waiting = work.settings.mode == "wake_word"
    work.log.info("words by %s, wake word by %s", recogniser.name if recogniser else "nobody",
                  spotter.name if spotter else "nobody")  # fmt: skip
    if recogniser is not None and recogniser.unknown:
        work.log.warning("these phrases of `hearing.words` can never be heard: %s",
                         ", ".join(recogniser.unknown))  # fmt: skip
    near = work.reader("near")
    poll, look = select.poll(), select.poll()
    for fd in (work.stop_fd, work.channel.fileno()):
        poll.register(fd, select.POLLIN)
        look.register(fd, select.POLLIN)
    poll.register(near.fileno(), select.POLLIN)
    work.report_ready()
    beaten_at = time.monotonic()
    streams = False  # all sound comes, not only that over the box
    while not work.stopping:
        if streams:
            look.poll(_LOOK_MS)
        else:
            poll.poll(_POLL_MS)
        streams = False
        for message in work.pop_messages():
            _follow(message, understanding)
        understanding.rests = work.floor.strain >= WORDS_REST
        for _ in range(_AT_ONCE):
            if (slot := near.read()) is None:
                break
            streams |= slot.stream == 0
            for heard in understanding.process(slot.samples, slot.index, slot.stream, slot.flags):
                work.send(heard)
        else:
            streams = True  # there is more
        now = time.monotonic()
        if now - beaten_at > _POLL_MS / 1000:
            work.beat()
            beaten_at = now
