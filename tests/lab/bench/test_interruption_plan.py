"""The plan: what is measured, where, with which sounds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from appliance.hear.bargein.recordings import RecordingFile
from lab.bench.interruption_plan import ECHO, LOUD, QUIET, SOUNDS, place, plan
from lab.bench.interruption_trials import ANSWERED_S, CONVERGED_S
from lab.sim.speech_source import SPEECH_DB
from lab.sim.synthetic_phrases import Phrase


def recorded(kind: str, count: int) -> list[RecordingFile]:
    return [RecordingFile(Path(f"{kind}/{n}.flac"), kind, kind) for n in range(count)]  # type: ignore[arg-type]  # the test's own words


def test_every_room_of_a_bench_is_none_of_a_training() -> None:
    jobs = [*plan("quick", [], 1), *plan("full", [], 1)]
    assert all(job.place.seed >= 1000 for job in jobs)


def test_without_recordings_everything_is_synthetic_and_all_classes_are_there() -> None:
    jobs = [job for job in plan("quick", [], 1) if job.part == "over"]
    kinds = Counter(spec.kind for job in jobs for spec in job.specs)
    assert set(kinds) == {"backchannel", "interruption", "noise"}
    assert not any(isinstance(spec, RecordingFile) for job in jobs for spec in job.specs)


def test_each_recording_comes_once_before_any_comes_twice() -> None:
    sources = recorded("backchannel", 7) + recorded("interruption", 300)
    specs = [s for job in plan("quick", sources, 1) if job.part == "over" for s in job.specs]
    names = Counter(s.path for s in specs if isinstance(s, RecordingFile))
    murmurs = [n for path, n in names.items() if path.parent.name == "backchannel"]
    assert max(murmurs) - min(murmurs) <= 1
    assert max(n for path, n in names.items() if path.parent.name == "interruption") == 1


def test_the_same_seed_plans_the_same_and_another_seed_other_sounds() -> None:
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
        some = sum(len(j.specs) or j.seconds - ANSWERED_S for j in few if j.part == part)
        all_of_them = sum(len(j.specs) or j.seconds - ANSWERED_S for j in usual if j.part == part)
        assert least < all_of_them / some < 11


def test_our_box_is_asked_something_first_and_the_article_s_talks_at_once() -> None:
    jobs = plan("quick", [], 1)
    assert all((job.question is None) == (job.by == "article") for job in jobs)


def test_levels_are_told_against_the_owner() -> None:
    assert place(QUIET, (0.2, 1001)).echo_db is None
    assert place(ECHO, (0.2, 1001)).echo_db == SPEECH_DB
    assert place(LOUD, (0.2, 1001)).echo_db == SPEECH_DB + 10


def test_television_and_kitchen_come_from_recordings_where_there_are_any() -> None:
    sources = recorded("television", 2) + recorded("background", 1)
    noises = {job.place.noise: [s.kind for s in job.noise] for job in plan("quick", sources, 1)}
    assert noises["television"] == ["television", "television"]
    assert noises["kitchen"] == ["background"]
    assert noises["quiet"] == []


def test_in_german_no_word_is_a_recording_and_noises_still_are() -> None:
    sources = recorded("interruption", 3) + recorded("noise", 3)
    jobs = plan("quick", sources, 1, language="de")
    said = [spec for job in jobs for spec in job.specs]
    assert {spec.voice.partition("+")[0] for spec in said if isinstance(spec, Phrase)} == {"de"}
    assert {spec.kind for spec in said if isinstance(spec, RecordingFile)} == {"noise"}
