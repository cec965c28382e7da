"""Viewers get every event; words go only to those that asked for them."""

from __future__ import annotations

import json

from appliance.page.viewers import MOST, Viewer, Viewers, encoded


def viewer(viewers: Viewers, access: str = "a", *, words: bool = False) -> list[bytes]:
    sent: list[bytes] = []
    viewers.add(Viewer(access, words, sent.append))
    return sent


def test_events_go_to_all_viewers_and_words_to_those_that_asked() -> None:
    viewers = Viewers()
    plain, wordy = viewer(viewers), viewer(viewers, words=True)
    viewers.show([{"k": "state"}])
    viewers.show([{"k": "sentence"}], words=True)
    assert (len(plain), len(wordy)) == (1, 2)
    assert viewers.words


def test_nothing_is_sent_without_events_or_to_a_removed_viewer() -> None:
    viewers = Viewers()
    sent: list[bytes] = []
    one = Viewer("a", words=False, send=sent.append)
    viewers.add(one)
    viewers.show([])
    viewers.remove(one)
    viewers.show([{"k": "state"}])
    assert sent == []
    assert not viewers.any


def test_a_viewer_whose_access_is_revoked_is_disconnected_and_others_stay() -> None:
    viewers = Viewers()
    gone, stays = viewer(viewers, "a"), viewer(viewers, "b")
    viewers.disconnect("a")
    assert (gone, stays) == ([b""], [])
    assert viewers.any


def test_the_number_of_viewers_is_limited() -> None:
    viewers = Viewers()
    for _ in range(MOST):
        assert not viewers.full
        viewer(viewers)
    assert viewers.full


def test_an_event_is_encoded_as_one_line() -> None:
    data = encoded([{"text": "a\n\nb\r\ndata: c"}])
    assert data.count(b"\n") == 2
    assert json.loads(data.removeprefix(b"data: ")) == [{"text": "a\n\nb\r\ndata: c"}]
