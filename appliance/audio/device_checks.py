"""Findings of `interlude check` about the sound card. Pure, except for the probe of the card."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from appliance.audio.cards import AUTO, CardInfo, Direction, card_named, chosen
from appliance.audio.device_probe import SILENT_DBFS, DeviceProbe
from appliance.errors import InterludeError, ShownAs
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.runtime.machine import Machine
from appliance.settings import CardSettings

NOISY_DBFS = -35.0  # RMS of a quiet room; above it onsets cannot be detected reliably
CLIPPED_DBFS = -0.1
ONE_CLOCK_PPM = 10.0  # at 30, double talk has 12 dB of echo reduction, not 27: benchmarks/echo.md


def card_findings(
    card: CardSettings,
    machine: Machine,
    cards: Sequence[CardInfo],
    try_card: Callable[[CardSettings], DeviceProbe],
    failed: Collection[str] | None = None,
) -> Iterator[Finding]:
    """All findings about the card. `try_card` opens it for some seconds.

    `failed`: failed parts of the running box, which has the card open; None: no box runs.
    """
    allowed, refused = machine.sound_devices()
    if refused:
        finding = warning if allowed else problem
        yield finding(
            "sound card",
            f"This user may not open {len(refused)} of the sound devices.",
            "sudo usermod -aG audio $USER, then log in again.",
            ShownAs.of("page-find-card-refused"),
        )
    if cards:
        listed = ", ".join(
            f"{info.device} ({info.name}{_missing_directions(info)})" for info in cards
        )
        names = ", ".join(info.name for info in cards)
        yield ok("sound card", f"Here: {listed}.", ShownAs.of("page-find-cards", names=names))
    yield from _choice_findings(card, cards)
    if failed is not None:
        yield _in_use(failed)
        return
    try:
        probe = try_card(card)
    except InterludeError as error:
        yield problem("sound card", error.problem, error.remedy)
        return
    yield _stream(probe)
    yield _level(probe)
    yield from _clock(probe)


def _in_use(failed: Collection[str]) -> Finding:
    """The finding about a card that cannot be probed, because the running box has it open."""
    failed_streams = sorted({"capture", "playback"}.intersection(failed))
    if failed_streams:
        remedy = "`journalctl -u interlude` says why."
        keys = {"capture": "page-find-card-no-capture", "playback": "page-find-card-no-playback"}
        key = keys[failed_streams[0]] if len(failed_streams) == 1 else "page-find-card-gone"
        sentence = f"The box runs without {' and '.join(failed_streams)}."
        return problem("sound card", sentence, remedy, ShownAs.of(key))
    return ok(
        "sound card",
        "The box has it open, and hears and plays; its level and clock are tried when it is "
        "stopped.",
        ShownAs.of("page-find-card-held"),
    )


def _choice_findings(card: CardSettings, cards: Sequence[CardInfo]) -> Iterator[Finding]:
    """Findings about the devices that will be opened, and problems of that choice."""
    names = chosen(card.capture, card.playback, cards)
    if AUTO in (card.capture, card.playback) and all(names):
        both = names[0] if names[0] == names[1] else f"{names[0]} to hear, {names[1]} to speak"
        yield ok("sound card", f"`auto` takes {both}.", ShownAs.of("page-find-card-auto"))
    if "default" in names:
        yield warning(
            "sound card",
            "ALSA's `default` is not the card itself: it mixes, resamples and buffers the sound.",
            "Set `card.capture` and `card.playback` to auto, which opens the card itself.",
            ShownAs.of("page-find-card-default"),
        )
    if all(names) and card_named(names[0]) != card_named(names[1]):
        yield warning(
            "clock",
            "Microphone and loudspeaker are two devices: their clocks drift apart, and the box "
            "hears itself.",
            "Use one device that does both (hw/audio.md), in `card.capture` and `card.playback`.",
            ShownAs.of("page-find-two-clocks"),
        )


def _stream(probe: DeviceProbe) -> Finding:
    mic_hz, speaker_hz = probe.rate_hz
    if probe.dropouts:
        return warning(
            "sound card",
            f"{probe.dropouts} dropouts in a few seconds.",
            "Close what else is busy; if that does not help, set `card.period_ms: 10`.",
        )
    rates = f"{mic_hz} Hz" if mic_hz == speaker_hz else f"{mic_hz} and {speaker_hz} Hz"
    return ok("sound card", f"It captures and plays at {rates}, without a dropout.")


def _level(probe: DeviceProbe) -> Finding:
    if probe.peak_dbfs <= SILENT_DBFS:
        return problem(
            "level",
            "The microphone gives nothing but zeros.",
            "Look for its mute switch, then at its capture level in `alsamixer`.",
        )
    if probe.peak_dbfs >= CLIPPED_DBFS:
        return warning(
            "level",
            "The microphone is overdriven: its loudest samples are cut off.",
            "Lower its capture level in `alsamixer`.",
        )
    level = f"{probe.noise_dbfs:.0f} dBFS, with peaks of {probe.peak_dbfs:.0f}"
    if probe.noise_dbfs > NOISY_DBFS:
        return warning(
            "level",
            f"The microphone hears {level}: more than a quiet room.",
            "Check again in quiet; if it stays, lower its capture level in `alsamixer`.",
        )
    return ok("level", f"The microphone hears {level}.")


def _clock(probe: DeviceProbe) -> Iterator[Finding]:
    if probe.skew_ppm is None or probe.uncertain_ppm is None:
        return
    measured = f"{probe.skew_ppm:+.0f} ± {2 * probe.uncertain_ppm:.0f} ppm apart"
    if abs(probe.skew_ppm) > ONE_CLOCK_PPM + 3 * probe.uncertain_ppm:
        yield problem(
            "clock",
            f"Microphone and loudspeaker run on two clocks, {measured}: the box will hear itself.",
            "Use one USB device, or one HAT, for both.",
        )
    else:
        yield ok("clock", f"Microphone and loudspeaker run on one clock ({measured}).")


def _missing_directions(card: CardInfo) -> str:
    directions: tuple[Direction, ...] = ("capture", "playback")
    return "".join(f", no {direction}" for direction in directions if not getattr(card, direction))
