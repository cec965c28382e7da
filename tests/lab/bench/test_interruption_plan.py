"""The plan of the interruption bench: jobs, rooms and sounds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from appliance.hear.bargein.recordings import RecordingFile
from lab.bench.interruption_plan import ECHO, LOUD, QUIET, SOUNDS, place, plan
from lab.bench.interruption_trials import ANSWERED_S, CONVERGED_S
from lab.sim.speech_source import SPEECH_DB
from lab.sim.synthetic_phrases import Phrase


def recorded(kind: str, count: int) -> list[RecordingFile]:
    return [RecordingFile(Path(f"{kind}/{n}.flac"), kind, kind) for n in range(count)]  # type: ignore[arg-type]  # kinds of the test


def test_no_room_of_a_bench_is_used_in_training() -> None:
    jobs = [*plan("quick", [], 1), *plan("full", [], 1)]
    assert all(job.place.seed >= 1000 for job in jobs)


def test_without_recordings_all_sounds_are_synthetic_and_all_classes_occur() -> None:
    jobs = [job for job in plan("quick", [], 1) if job.part == "over"]
    kinds = Counter(spec.kind for job in jobs for spec in job.specs)
    assert set(kinds) == {"backchannel", "interruption", "noise"}
    assert not any(isinstance(spec, RecordingFile) for job in jobs for spec in job.specs)


def test_each_recording_is_used_once_before_any_is_used_twice() -> None:
    sources = recorded("backchannel", 7) + recorded("interruption", 300)
    specs = [s for job in plan("quick", sources, 1) if job.part == "over" for s in job.specs]
    names = Counter(s.path for s in specs if isinstance(s, RecordingFile))
    backchannels = [n for path, n in names.items() if path.parent.name == "backchannel"]
    assert max(backchannels) - min(backchannels) <= 1
    assert max(n for path, n in names.items() if path.parent.name == "interruption") == 1


def test_the_same_seed_gives_the_same_plan_and_another_seed_other_sounds() -> None:
    first, again, other = (plan("quick", [], seed) for seed in (1, 1, 2))
    assert first == again
    assert [job.specs for job in first] != [job.specs for job in other]


def test_a_job_lasts_long_enough_for_its_sounds() -> None:
    for job in plan("default", [], 1):
        assert job.seconds >= (CONVERGED_S + 4 * len(job.specs) if job.specs else 60)


def test_fewer_events_mean_fewer_sounds_and_shorter_silences() -> None:
    few, usual = plan("default", [], 1, events=12), plan("default", [], 1)
    assert SOUNDS["default"] == 120
    for part, least in (("over", 9), ("pauses", 9)):
        with_few = sum(len(j.specs) or j.seconds - ANSWERED_S for j in few if j.part == part)
        with_default = sum(len(j.specs) or j.seconds - ANSWERED_S for j in usual if j.part == part)
        assert least < with_default / with_few < 11


def test_our_box_is_asked_a_question_first_and_the_article_talks_at_once() -> None:
    jobs = plan("quick", [], 1)
    assert all((job.question is None) == (job.by == "article") for job in jobs)


def test_echo_levels_are_relative_to_the_owners_speech() -> None:
    assert place(QUIET, (0.2, 1001)).echo_db is None
    assert place(ECHO, (0.2, 1001)).echo_db == SPEECH_DB
    assert place(LOUD, (0.2, 1001)).echo_db == SPEECH_DB + 10


def test_television_and_kitchen_noise_come_from_recordings_if_present() -> None:
    sources = recorded("television", 2) + recorded("background", 1)
    noises = {job.place.noise: [s.kind for s in job.noise] for job in plan("quick", sources, 1)}
    assert noises["television"] == ["television", "television"]
    assert noises["kitchen"] == ["background"]
    assert noises["quiet"] == []


def test_in_german_words_are_synthetic_and_noises_are_recordings() -> None:
    sources = recorded("interruption", 3) + recorded("noise", 3)
    jobs = plan("quick", sources, 1, language="de")
    specs = [spec for job in jobs for spec in job.specs]
    assert {spec.voice.partition("+")[0] for spec in specs if isinstance(spec, Phrase)} == {"de"}
    assert {spec.kind for spec in specs if isinstance(spec, RecordingFile)} == {"noise"}
