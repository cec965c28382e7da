"""[process] The speaker: sentences from the conductor in, the answer's sound out (ring `voice`)."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence

from appliance.language.catalogue import SOURCE
from appliance.language.identify import LanguageIdentifier
from appliance.messages.commands import SetVoice, StatusWanted, VoicesAvailable
from appliance.messages.speech import EndAnswer, PrepareSpeech, Speak, SpeakerReady
from appliance.runtime.ipc.ring import RingWriter
from appliance.runtime.process_table import STATES, TRIED
from appliance.runtime.worker import Worker
from appliance.settings import Settings
from appliance.settings.language import ANY
from appliance.voice import factory
from appliance.voice.availability import VoiceAvailability
from appliance.voice.by_language import VoicesByLanguage
from appliance.voice.interface import Voice, is_loading
from appliance.voice.speech_queue import SpeechQueue
from appliance.voice.tried_sound import TriedSound

LOOK_MS = 20  # between two readings of the floor while there is something to say
BEAT_S = 0.1
IDLE_MS = 1000  # with nothing to say: only for the heartbeat


def main(work: Worker) -> None:
    states = work.ring(STATES)
    identifier = _identifier(work.settings)  # loads while the voice starts
    voices = factory.load(work.settings, work.log, work.beat, states)
    availability = VoiceAvailability(lambda: factory.commands(work.settings), time.monotonic)
    ring = work.writer("voice")
    recording = TriedSound(work.reader(TRIED) if work.ring(TRIED) is not None else None, ring)
    turn = work.floor.turn
    # After a restart in the middle of an answer its sound continues at the end of the ring.
    speech_queue = SpeechQueue(voices, work.send, turn, ring.end_of(turn))
    speech_queue.recording = recording.pop
    speech_queue.by_language = routed = _by_language(work, voices, identifier)
    chosen_speaks = _send_ready(work, voices)
    work.report_ready()
    # `next_voice`: voice to change to once nothing is being said. `auto`: the settings leave the
    # choice of the voice to the box, and no message has named one.
    next_voice, auto = "", work.settings.speaking.voice == factory.AUTO
    reported: tuple[str, ...] = ()
    try:
        while not work.stopping:
            _wait(work, ring, speech_queue, availability, recording)
            recording.collect()
            requested, report_again = _handle_messages(work, speech_queue)
            if requested is not None:
                next_voice, auto = requested, False
            if report_again:
                chosen_speaks = _send_ready(work, voices)
                work.send(VoicesAvailable(reported))
            speech_queue.preparation.collect()
            if next_voice and not speech_queue.busy:
                speech_queue.preparation.drop()
                speech_queue.voices = voices = factory.change_voice(
                    work.settings, next_voice, voices, work.log, work.beat, states
                )
                routed.choose(voices, asked=not auto)
                chosen_speaks, next_voice = _send_ready(work, voices), ""
            _write(work, ring, speech_queue)
            recording.overwrite(busy=speech_queue.busy)
            for voice in voices:
                voice.poll()
            routed.poll()
            if not chosen_speaks and voices[0].ready:  # it finished loading after the start
                chosen_speaks = _send_ready(work, voices)
            availability.poll(voices, busy=speech_queue.busy)
            if availability.names != reported:
                reported = availability.names
                work.send(VoicesAvailable(reported))
                if auto:
                    next_voice = _better_voice(work.settings, reported, voices[0]) or next_voice
            next_voice = next_voice or availability.replaced(voices)
            work.beat()
    finally:
        speech_queue.stop()
        availability.close()
        routed.close()
        for voice in voices:
            voice.close()


def _handle_messages(work: Worker, speech_queue: SpeechQueue) -> tuple[str | None, bool]:
    """Pass sentences on to `speech_queue`. Returns the requested voice, or None, and whether the
    conductor asked for the speaker's state again."""
    requested: str | None = None
    report_again = False
    for message in work.pop_messages():
        if isinstance(message, Speak | EndAnswer):
            speech_queue.push(message, time.monotonic())
        elif isinstance(message, PrepareSpeech):
            speech_queue.prepare(message.text, message.tokens)
        elif isinstance(message, SetVoice):
            requested = message.name
        elif isinstance(message, StatusWanted):
            report_again = True
    return requested, report_again


def _identifier(settings: Settings) -> LanguageIdentifier:
    """The identifier, started. With a language set, answers are in it or, at times, in English."""
    if settings.language == ANY:
        found = LanguageIdentifier()
    else:
        found = LanguageIdentifier({settings.own_language, SOURCE})  # if both are one: no model
    found.start()
    return found


def _by_language(
    work: Worker, voices: list[Voice], identifier: LanguageIdentifier
) -> VoicesByLanguage:
    """Wait until languages can be identified: the first sentence may be in any of them."""
    while not identifier.wait(BEAT_S):
        work.beat()
    return factory.by_language(work.settings, voices, identifier.identify)


def _better_voice(settings: Settings, names: Sequence[str], now: Voice) -> str:
    """The voice among `names`, which all can speak, that should replace `now`; "" for none."""
    best = factory.best(settings, names)
    return "" if is_loading(now) or best == now.name else best


def _send_ready(work: Worker, voices: list[Voice]) -> bool:
    """Log and report which voice speaks. Returns whether it is the chosen one."""
    speaks = next((voice for voice in voices if voice.ready), voices[0])
    work.log.info("the voice is %s", speaks.name)
    work.send(SpeakerReady(speaks.name))
    return speaks is voices[0]


def _wait(
    work: Worker,
    ring: RingWriter,
    speech_queue: SpeechQueue,
    availability: VoiceAvailability,
    recording: TriedSound,
) -> None:
    """Wait for a message, sound, or room in the ring, at most until the floor has to be read."""
    poll = select.poll()
    poll.register(work.stop_fd, select.POLLIN)
    poll.register(work.channel.fileno(), select.POLLIN)
    if speech_queue.speech is not None:
        poll.register(speech_queue.speech.fileno(), select.POLLIN)
    if (prepared := speech_queue.preparation.waits_for) is not None:
        poll.register(prepared.fileno(), select.POLLIN)
    for fd in recording.descriptors:
        poll.register(fd, select.POLLIN)
    if speech_queue.waits_for_room:
        poll.register(ring.room_fd, select.POLLIN)
    if availability.fileno() >= 0:
        poll.register(availability.fileno(), select.POLLIN)
    poll.poll(LOOK_MS if speech_queue.busy else IDLE_MS)


def _write(work: Worker, ring: RingWriter, speech_queue: SpeechQueue) -> None:
    ring.collect_room()
    for piece in speech_queue.pop_slots(work.floor.turn, ring.room(), time.monotonic()):
        if work.floor.turn != piece.turn:
            return  # the turn was raised while this answer was being written
        ring.write(piece.samples, stream=piece.turn, position=piece.position, flags=piece.flags)
