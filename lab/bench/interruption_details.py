"""The detailed tables of the interruption bench: by room, by age, compared with the article, the
cost of hearing, and the worst clips. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lab.bench import interruption_figures as figures
from lab.bench.benches import FigureTable
from lab.bench.interruption_figures import CLASSES, OUTCOMES
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_tables import hourly, ms, percent, plain
from lab.bench.interruption_trials import InterruptionTrial

IN_TIME_MS = 700  # from the owner's onset until the answer must be silent for good


def by_room(found: InterruptionFindings) -> list[FigureTable]:
    """Stops and verdicts, pauses and self-interruptions: a row for each condition and room."""
    over = FigureTable("Sounds over the box, by room (offline)",
                 ("condition", "room", "n", "p50 ms", "p95", "% ≤ 300", "bal. acc.",
                  "% i. resumed", "% b. resumed", "% n. yielded"), names=2)  # fmt: skip
    for condition in found.conditions("over"):
        for room in _rooms(found, "over", condition):
            trials = found.trials(condition, room=room)
            measured = figures.stops(trials)
            over.rows.append((
                condition, room, len(trials), ms(figures.stop_percentile(measured, 50).value),
                ms(figures.stop_percentile(measured, 95).value),
                percent(figures.share_within(measured, 300).value),
                plain(figures.accuracy(trials, None).value),
                percent(figures.taken_for(trials, "interruption", ("backchannel", "noise")).value),
                percent(figures.taken_for(trials, "backchannel",
                                          ("backchannel", "noise", "no pause")).value),
                percent(figures.taken_for(trials, "noise", ("interruption",)).value),
            ))  # fmt: skip
    columns = ("condition", "room", "minutes", "pauses", "an hour", "first 10 s", "selves")
    silent = FigureTable("Nobody speaks: pauses and self-interruptions, by room (offline)", columns,
                         names=2)  # fmt: skip
    for condition in found.conditions("pauses"):
        for job, result in sorted(found.silences(condition), key=lambda d: d[0].seed):
            rate = figures.hourly_rate(len(result.pauses), result.talked_s).value
            early = sum(p.at_s < 10 for p in result.pauses)
            minutes, died = round(result.talked_s / 60, 1), len(result.died_s)
            silent.rows.append((condition, job.place.name, minutes, len(result.pauses),
                                f"{rate:.1f}", early, died))  # fmt: skip
    over.notes.append("i., b., n.: interruptions, backchannels, noises; as in the first table.")
    silent.notes.append(
        "selves: answers that the box dropped without speech of the owner. A television that it "
        "mistakes for the owner silences it for a while."
    )
    return [sheet for sheet in (over, silent) if sheet.rows]


def _rooms(found: InterruptionFindings, part: str, condition: str) -> list[str]:
    names = {job.place.name for job, _ in found.done
             if job.part == part and job.condition == condition}  # fmt: skip
    return sorted(names)


def verdicts(found: InterruptionFindings) -> list[FigureTable]:
    """Verdicts by age, the confusion matrix, verdicts by source, and the calibration."""
    trials = found.trials()
    if not trials:
        return []
    columns = ("age", "speech", "three classes", "interr. misheld", "backch. misheld")
    time = FigureTable("Verdict against its age (offline): balanced accuracy", columns)
    for age in range(100, 701, 100):
        time.rows.append((f"{age} ms", *_at(trials, age)))
    time.rows.append(("final", *_at(trials, None)))
    matrix = FigureTable("Confusion: what it was, and the first pause's verdict (offline)",
                   ("", *OUTCOMES, "n", "yielded in the end",
                    f"within {IN_TIME_MS} ms"))  # fmt: skip
    counts = figures.confusion(trials)
    for kind in CLASSES:
        of = sum(counts[kind].values())
        of_class = [t for t in trials if t.kind == kind]
        yielded = figures.portion(sum(t.yielded for t in of_class), of)
        in_time = figures.portion(
            sum(t.over_ms is not None and t.over_ms <= IN_TIME_MS for t in of_class), of
        )
        matrix.rows.append((kind, *(f"{counts[kind][o]} ({counts[kind][o] / (of or 1):.0%})"
                                    for o in OUTCOMES), of, percent(yielded.value),
                            percent(in_time.value)))  # fmt: skip
    matrix.notes.append(
        f"within {IN_TIME_MS} ms: the answer was silent for good so soon after the sound's true "
        "onset, after any number of pauses: it is right to resume after a click and to stop at the "
        "word that follows."
    )
    calibration = FigureTable("Calibration at 300 ms: of an interruption (offline)",
                              ("it said", "it was", "opinions"))  # fmt: skip
    calibration.rows += [
        (percent(b.said), percent(b.found), b.n) for b in figures.reliability(trials)[0]
    ]
    return [time, matrix, _by_source(trials), calibration]


def _by_source(trials: Sequence[InterruptionTrial]) -> FigureTable:
    columns = ("", "n", "final", "at 300 ms", "% i. resumed", "% b. resumed")
    sheet = FigureTable("Verdicts on speech, by where it is from (offline)", columns)
    for name, real in (("recorded", True), ("synthetic", False)):
        of_source = [t for t in trials if t.real == real and t.kind != "noise"]
        resumed = ("backchannel", "noise", "no pause")
        if of_source:
            sheet.rows.append((
                name, len(of_source), plain(figures.accuracy(of_source, None).value),
                plain(figures.accuracy(of_source, 300).value),
                percent(figures.taken_for(of_source, "interruption", resumed[:2]).value),
                percent(figures.taken_for(of_source, "backchannel", resumed).value),
            ))  # fmt: skip
    return sheet


def _at(trials: Sequence[InterruptionTrial], age_ms: int | None) -> tuple[str, ...]:
    decisions = [(t.kind, figures.outcome(t) if age_ms is None else figures.at_age(t, age_ms))
                 for t in trials]  # fmt: skip
    interruptions = [decision for kind, decision in decisions if kind == "interruption"]
    backchannels = [decision for kind, decision in decisions if kind == "backchannel"]
    resumed = figures.portion(sum(d != "interruption" for d in interruptions), len(interruptions))
    yielded = figures.portion(sum(d == "interruption" for d in backchannels), len(backchannels))
    return (
        plain(figures.accuracy(trials, age_ms).value),
        plain(figures.accuracy(trials, age_ms, "three").value),
        percent(resumed.value),
        percent(yielded.value),
    )


def article(found: InterruptionFindings) -> list[FigureTable]:
    """The article's recipe and ours in the same rooms."""
    sheet = FigureTable("Beside the article's recipe (offline; *: the processes)",
                  ("condition", "", "p50 ms", "p95", "% ≤ 300", "n", "selves/h",
                   "% lost to b.", "to n."), names=2)  # fmt: skip
    for condition in found.conditions("article"):
        for by in ("ours", "article"):
            results = [(job, r) for job, r in found.done
                       if job.by == by and job.condition == condition]  # fmt: skip
            if not results:
                continue  # the part `over`, which has our trials, was not run
            trials = [t for _, r in results for t in r.trials]
            measured = figures.stops(trials)
            died = figures.hourly_rate(sum(len(r.died_s) for _, r in results),
                                   sum(r.talked_s for _, r in results))  # fmt: skip
            dropped = [figures.portion(sum(t.yielded for t in trials if t.kind == kind),
                                       sum(t.kind == kind for t in trials))
                       for kind in ("backchannel", "noise")]  # fmt: skip
            sheet.rows.append((
                condition, by, ms(figures.stop_percentile(measured, 50).value),
                ms(figures.stop_percentile(measured, 95).value),
                percent(figures.share_within(measured, 300).value),
                len(measured), hourly(died.value),
                *(percent(figure.value) for figure in dropped),
            ))  # fmt: skip
    for condition in found.live_article:
        for by, live in (("ours", found.live), ("article", found.live_article)):
            measured = figures.stops(live[condition])
            sheet.rows.append((
                f"{condition}*", by, ms(figures.stop_percentile(measured, 50).value),
                ms(figures.stop_percentile(measured, 95).value),
                percent(figures.share_within(measured, 300).value),
                len(measured), "", "", "",
            ))  # fmt: skip
    if not sheet.rows:
        return []
    sheet.notes.append(
        "The article's recipe has no echo canceller. So it is simulated without echo, as with "
        "headphones, except in “echo 0 dB”; ours always has the echo. selves: answers dropped "
        "without a sound of the owner. lost to b., to n.: backchannels and noises at which an "
        "answer was dropped. *: the real processes, with the echo of the room; a recipe that "
        "interrupts itself is rarely speaking when a word is played."
    )
    return [sheet]


def cost(found: InterruptionFindings) -> list[FigureTable]:
    """The CPU time of each stage for a block of 5 ms."""
    if found.cost_us is None:
        return []
    sheet = FigureTable(
        "Cost of hearing while the box speaks", ("stage", "µs of 5 ms", "of one core")
    )
    for name, part in found.stages.items():
        step_us = part * found.cost_us
        sheet.rows.append((name, f"{step_us:.1f}", f"{step_us / 5000:.2%}"))
    sheet.rows.append(("all", f"{found.cost_us:.1f}", f"{found.cost_us / 5000:.2%}"))
    sheet.notes.append("CPU time of one thread; the stages' shares by sampling each millisecond.")
    return [sheet]


def worst(found: InterruptionFindings, most: int) -> list[FigureTable]:
    """The worst `most` clips of each kind of error, and the words with the highest error rates."""
    trials = found.trials()
    if not most or not trials:
        return []
    sheets = []
    for title, errors, badness in (
        ("Interruptions resumed", _resumed(trials), lambda t: -_of_interruption(t)),
        ("Backchannels yielded to", _yielded(trials, "backchannel"), _of_interruption),
        ("Noises yielded to", _yielded(trials, "noise"), _of_interruption),
        ("Slowest stops", _slow(trials), lambda t: t.stop_ms or 1e9),
    ):
        if not errors:
            continue
        sheet = FigureTable(f"{title}: {len(errors)}; the {min(most, len(errors))} worst",
                            ("clip", "ms", "stop", "verdict", "at", "p(interr.)"))  # fmt: skip
        for t in sorted(errors, key=badness, reverse=True)[:most]:
            at = "–" if t.age_ms is None else f"{t.age_ms} ms"
            stop = "missed" if t.missed else "–" if t.stop_ms is None else f"{t.stop_ms:.0f} ms"
            sheet.rows.append((t.name, round(t.length_ms), stop, figures.outcome(t), at,
                               f"{_of_interruption(t):.2f}"))  # fmt: skip
        words = Counter(_word(t) for t in errors)
        total = Counter(_word(t) for t in trials)
        by_rate = sorted(words, key=lambda w: (-words[w] / total[w], w))
        sheet.notes.append("By word: " + ", ".join(
            f"{w} {words[w]} of {total[w]}" for w in by_rate[: 2 * most]) + ".")  # fmt: skip
        sheets.append(sheet)
    return sheets


def _resumed(trials: Sequence[InterruptionTrial]) -> list[InterruptionTrial]:
    return [t for t in trials if t.kind == "interruption" and figures.outcome(t) != "interruption"]


def _yielded(trials: Sequence[InterruptionTrial], kind: str) -> list[InterruptionTrial]:
    return [t for t in trials if t.kind == kind and figures.outcome(t) == "interruption"]


def _slow(trials: Sequence[InterruptionTrial]) -> list[InterruptionTrial]:
    return [t for t in figures.stops(trials) if t.stop_ms is None or t.stop_ms > 150]


def _of_interruption(trial: InterruptionTrial) -> float:
    return trial.opinions[-1][2] if trial.opinions else 0.0


def _word(trial: InterruptionTrial) -> str:
    """The word of a trial: a recording's folder, or a synthetic phrase's words."""
    if trial.real:
        return trial.name.split("/")[0]
    return trial.name.split(" (")[0].rstrip(".,?!") if "(" in trial.name else \
        trial.name.split()[0]  # fmt: skip
