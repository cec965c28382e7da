"""Measures accuracy before and after enrolment, on takes and words that were not enrolled.

In: the shipped network; optionally recordings of held-out speakers. Out: the shares judged right
before and after, for synthetic owners (held-out espeak-ng voices) and for real ones (yes and right
against stop and no; half of a speaker's takes are enrolled, the other half judged).
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np

from appliance.audio import sound_file
from appliance.errors import InterludeError
from appliance.hear.bargein import adaptation, enrolment, network
from appliance.hear.bargein.enrolment import EnrolmentRecording, ScoredRecording
from appliance.hear.bargein.recordings import RecordingFile, find
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, from_float
from appliance.settings import load_defaults
from lab.sim import speech_source, synthetic_phrases
from lab.sim.corpus import held_out

ENROLLED: dict[str, Judgement] = {
    "mm-hm": "backchannel", "yeah": "backchannel", "right": "backchannel",
    "wait": "interruption", "stop": "interruption", "no": "interruption",
}  # fmt: skip
JUDGED: dict[str, Judgement] = {
    **ENROLLED, "uh-huh": "backchannel", "okay": "backchannel", "I see": "backchannel",
    "hold on": "interruption", "but": "interruption", "actually": "interruption",
}  # fmt: skip
REAL: dict[str, Judgement] = {
    "yes": "backchannel", "right": "backchannel", "stop": "interruption", "no": "interruption",
}  # fmt: skip
# Languages that are not in the training data: voice, backchannels, interruptions.
LANGUAGES = (
    ("de", ("ja", "genau", "klar", "mhm"), ("halt", "warte", "nein", "moment")),
    ("fr", ("oui", "voilà", "d'accord", "ah bon"), ("attends", "arrête", "non", "pardon")),
    ("es", ("sí", "vale", "claro", "ajá"), ("espera", "para", "no", "perdona")),
    ("it", ("sì", "certo", "capisco", "già"), ("aspetta", "ferma", "no", "scusa")),
)
FEWEST_TAKES = 4  # of each class, for a real owner


class Owners:
    """Enrols owners and counts correct judgements before and after."""

    def __init__(self) -> None:
        self._network = network.VerdictNetwork()
        self._settings = load_defaults().hearing
        self._others = adaptation.anchors()
        self.counts = np.zeros(3)  # judged, right before, right after
        self.told: list[str] = []

    def add(
        self, name: str, enrolled: list[EnrolmentRecording], judged: list[EnrolmentRecording]
    ) -> None:
        try:
            learnt = enrolment.learn(self._heard(enrolled), self._others, "")
        except InterludeError as error:
            self.told.append(f"{name}: {error}")
            return
        layer = learnt.adaptation if learnt.helps else None
        test = self._heard(judged)
        before = sum(enrolment.judged_right(h, None) for h in test)
        after = sum(enrolment.judged_right(h, layer) for h in test)
        self.counts += (len(test), before, after)
        kept = "" if layer else " (not kept)"
        self.told.append(f"{name}: {before} → {after} of {len(test)}{kept}")

    def _heard(self, takes: list[EnrolmentRecording]) -> list[ScoredRecording]:
        heard = []
        for take in takes:
            try:
                heard.append(enrolment.score(take, self._settings, self._network))
            except InterludeError:
                continue  # an unusable take
        return heard

    def __str__(self) -> str:
        judged, before, after = self.counts
        total = (
            f"{before / judged:.1%} → {after / judged:.1%} of {judged:.0f}" if judged else "none"
        )
        return "\n".join([*self.told, f"together: {total}"])


def said(text: str, kind: Judgement, voice: str, chance: random.Random) -> EnrolmentRecording:
    """A take of the phrase with random speed, pitch and intonation, in a quiet room."""
    wave = speech_source.spoken(text + chance.choice(("", ".", ",")), voice, chance.randint(140,
    190),
                        chance.randint(40, 60))  # fmt: skip
    onset, end = speech_source.edges(wave)
    noise = np.random.default_rng(chance.randrange(1 << 30)).standard_normal(2 * RATE_HZ) * 16
    word = speech_source.scaled(wave, onset, end, -28.0)[onset:end][: RATE_HZ + RATE_HZ // 4]
    noise[RATE_HZ // 2 : RATE_HZ // 2 + len(word)] += word
    return EnrolmentRecording(text, kind, np.rint(noise).astype(np.int16))


def synthetic(count: int) -> Owners:
    owners, chance = Owners(), random.Random(7)
    for variant in chance.sample(synthetic_phrases.HELD_OUT, count):
        voice = f"{chance.choice(synthetic_phrases.ACCENTS)}+{variant}"
        owners.add(
            voice,
            [said(w, k, voice, chance) for w, k in ENROLLED.items() for _ in range(3)],
            [said(w, k, voice, chance) for w, k in JUDGED.items() for _ in range(2)],
        )
    return owners


def foreign() -> Owners:
    """Owners of other languages: three takes of each word are enrolled, three others judged."""
    owners, chance = Owners(), random.Random(8)
    for tongue, murmurs, calls in LANGUAGES:
        voice = f"{tongue}+{chance.choice(synthetic_phrases.HELD_OUT)}"
        kinds: dict[str, Judgement] = {
            **dict.fromkeys(murmurs, "backchannel"), **dict.fromkeys(calls, "interruption")
        }  # fmt: skip
        takes = [[said(w, k, voice, chance) for w, k in kinds.items() for _ in range(3)]
                 for _ in range(2)]  # fmt: skip
        owners.add(voice, *takes)
    return owners


def real(recordings: Path, most: int) -> Owners:
    owners = Owners()
    by_speaker: dict[str, list[RecordingFile]] = {}
    for source in find(recordings / "words").sources:
        if source.word in REAL and held_out(source.speaker):
            by_speaker.setdefault(source.speaker, []).append(source)
    for speaker, sources in sorted(by_speaker.items()):
        halves: tuple[list[EnrolmentRecording], list[EnrolmentRecording]] = ([], [])
        for i, source in enumerate(sources):
            samples = from_float(sound_file.read_sound(source.path))
            take = EnrolmentRecording(source.name, REAL[source.word], samples)
            halves[i % 2].append(take)
        kinds = [take.kind for take in halves[0]]
        if len(owners.told) < most and min(map(kinds.count, set(REAL.values()))) >= FEWEST_TAKES:
            owners.add(speaker, *halves)
    return owners


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--owners", type=int, default=6)
    args = parser.parse_args()
    print(f"synthetic owners\n{synthetic(args.owners)}")
    print(f"\nowners of another language\n{foreign()}")
    if args.recordings:
        print(f"\nreal owners\n{real(args.recordings, args.owners)}")


if __name__ == "__main__":
    main()
