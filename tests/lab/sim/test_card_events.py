"""The card's log of stream events."""

from __future__ import annotations

from lab.sim.card_events import CardEvent, CardEventKind, StreamDirection
from lab.sim.card_memory_layout import (
    EVENTS,
)
from lab.sim.simulated_card import SoundCard


def test_the_events_are_returned_in_order(card: SoundCard) -> None:
    log(card, 100)
    log(card, 200, kind=5, stream=1)
    assert card.events() == (
        CardEvent(1, 7, StreamDirection.PLAYBACK, CardEventKind.START, 100, 3),
        CardEvent(2, 7, StreamDirection.CAPTURE, CardEventKind.XRUN, 200, 3),
    )
    assert str(card.events()[1]) == "capture xrun at 200 (3 frames)"


def test_the_log_keeps_the_latest_events(card: SoundCard) -> None:
    for index in range(EVENTS + 10):
        log(card, index)
    events = card.events()
    assert len(events) == EVENTS
    assert (events[0].index, events[-1].index) == (10, EVENTS + 9)


def test_an_event_that_is_being_written_is_left_out(card: SoundCard) -> None:
    log(card, 100)
    card._card["event_count"] += 1
    assert [event.index for event in card.events()] == [100]


def log(card: SoundCard, index: int, kind: int = 1, stream: int = 0) -> None:
    """Append an event as the plugin does."""
    count = int(card._card["event_count"])
    card._card["event_count"] += 1
    card._card["events"][count % EVENTS] = (count + 1, 7, index, 3, stream, kind)
