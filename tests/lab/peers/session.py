"""A program in a quiet room without an echo: it answers, and after four seconds somebody speaks."""

from __future__ import annotations

import numpy as np

from appliance.messages.hearing import Onset, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from lab.bench.peer_device import PROGRAM, PeerDevice
from lab.bench.peer_environment import PeerEnvironment
from lab.peers.pipe import Start, Words
from lab.sim.speech_source import SPEECH_DB, scaled
from lab.sim.synthetic_phrases import Phrase, spoken

ASKED = 2 * RATE_HZ
SPOKEN_AT = ASKED + 4 * RATE_HZ
LASTS = SPOKEN_AT + 7 * RATE_HZ
MS = RATE_HZ // 1000


class Session:
    """Runs it. Times are in ms from the onset of the word, "tomorrow"; None if it never came.

    text   as the recogniser writes it down
    """

    def __init__(self, program: str, text: str = "tomorrow", **options: float) -> None:
        clip = spoken(Phrase("interruption", "tomorrow", "en-us+f2", 110, 50))
        mic = self._mic(scaled(clip.samples, clip.onset, clip.end, SPEECH_DB))
        onset, end = SPOKEN_AT + clip.onset, SPOKEN_AT + clip.end
        talk = np.tile(np.array([4000, -4000], np.int16), RATE_HZ)
        command = (str(PeerEnvironment().python), *PROGRAM)
        self.device = PeerDevice(command, Start(program, options, ASKED, len(talk)), talk)
        try:
            self.device.say(Words(text, onset, end))
            for at in range(0, LASTS, BLOCK_FRAMES):
                self.device.play(at)
                self.device.process(mic[at : at + BLOCK_FRAMES], at)
                if at == SPOKEN_AT:
                    assert self.device.talking
                    assert self.device.events == []
        finally:
            self.device.close()
        first = [t.at for t in self.device.events if isinstance(t.event, Onset)]
        resumed = [t.at for t in self.device.events
                   if isinstance(t.event, Verdict) and t.event.kind == "backchannel"]  # fmt: skip
        self.stopped_ms = (first[0] - onset) / MS if first else np.inf
        self.resumed_ms = (resumed[0] - onset) / MS if resumed else None
        yields = self.device.yields
        self.dropped_ms = (yields[0] - onset) / MS if yields else None
        self.talks_again = bool(yields) and self.device.talking

    @staticmethod
    def _mic(word: Samples) -> Samples:
        quiet = np.random.default_rng(1).normal(0, 10, LASTS + BLOCK_FRAMES)  # −70 dBFS
        mic = np.rint(quiet).astype(np.int16)
        mic[SPOKEN_AT : SPOKEN_AT + len(word)] += word
        return mic
