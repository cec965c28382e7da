"""[process] Words: reads the ring `near`, reports the words of an interjection and the wake word.

No process waits for it: words that arrive after a verdict do not change it. Without a recogniser,
or without a wake word spotter, it logs that once and runs the other one.
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

_LOOK_MS = 30  # poll interval while all sound is fed: 33 wake-ups a second and not 200
_POLL_MS = 1000
_AT_ONCE = 100  # slots, 0.5 s of sound; then heartbeat and messages, even if it lags


def _apply(message: Message, decoder: WordDecoder) -> None:
    """Apply the box's listening mode, and whether a page is open."""
    if isinstance(message, BoxStatus):
        decoder.waiting = message.mode == "wake_word" and not message.muted
    elif isinstance(message, LiveView):
        decoder.watched = message.on


def main(work: Worker) -> None:
    """Recognise words until the worker is told to stop."""
    hearing = work.settings.hearing
    recogniser = backends.recogniser(work.settings)
    spotter = None
    try:
        spotter = backends.wake_word_spotter(work.settings)
    except InterludeError as error:  # words over an answer are recognised all the same
        work.log.error("%s", error)
    decoder = WordDecoder(hearing.words, recogniser, spotter, hearing.turn.longest_ms)
    decoder.waiting = work.settings.mode == "wake_word"
    work.log.info("word recogniser: %s, wake word spotter: %s", recogniser.name if recogniser else
                  "none", spotter.name if spotter else "none")  # fmt: skip
    if recogniser is not None and recogniser.unknown:
        work.log.warning("these phrases of `hearing.words` cannot be recognised: %s",
                         ", ".join(recogniser.unknown))  # fmt: skip
    near = work.reader("near")
    poll, mail_poll = select.poll(), select.poll()
    for fd in (work.stop_fd, work.channel.fileno()):
        poll.register(fd, select.POLLIN)
        mail_poll.register(fd, select.POLLIN)
    poll.register(near.fileno(), select.POLLIN)
    work.report_ready()
    last_beat_s = time.monotonic()
    continuous = False  # all sound is fed, not only that over an answer
    while not work.stopping:
        if continuous:
            mail_poll.poll(_LOOK_MS)
        else:
            poll.poll(_POLL_MS)
        continuous = False
        for message in work.pop_messages():
            _apply(message, decoder)
        decoder.rests = work.floor.strain >= WORDS_REST
        for _ in range(_AT_ONCE):
            if (slot := near.read()) is None:
                break
            continuous |= slot.stream == 0
            for result in decoder.process(slot.samples, slot.index, slot.stream, slot.flags):
                work.send(result)
        else:
            continuous = True  # more slots are pending
        now = time.monotonic()
        if now - last_beat_s > _POLL_MS / 1000:
            work.beat()
            last_beat_s = now
