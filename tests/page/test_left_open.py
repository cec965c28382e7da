"""The live view left open in a real browser: a day of its model, hidden tabs, and streams that end
and are reopened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from appliance.messages.commands import StateChanged
from appliance.messages.hearing import Onset, SpeechEnded
from appliance.messages.playback import PlaybackPaused, PlaybackStarted
from appliance.messages.viewing import SoundLevels
from appliance.page.static_files import FOLDER
from appliance.page.visit import COOKIE
from appliance.pcm import RATE_HZ
from tests.page.chromium import Chromium
from tests.page.desk import Desk
from tests.page.served import Served, served_desk
from tests.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

# Five levels every 200 ms and a question every 20 s, from `from` to `until`, in seconds of the box.
# Returns the maximum number of each kept at any time, and what is kept at the end.
RUN = """(from, until, jump) => {
  const minute = new LiveMinute(), most = { levels: 0, marks: 0, states: 0, answers: 0 };
  let now = from;
  for (let step = 0; now < until; step++) {
    now = from + step / 5;
    const t = now + (jump && now > (from + until) / 2 ? jump : 0);
    if (step % 100 === 0) {
      const turn = Math.round(now / 20);
      minute.take({ k: "state", t, state: "speaking", turn });
      minute.take({ k: "answer", t, turn, at: 0 });
      minute.take({ k: "spoken", turn, n: 0, to: 4 });
      minute.take({ k: "onset", t, serial: turn, over: true });
      minute.take({ k: "pause", t: t + 0.03, turn, at: 1 });
      minute.take({ k: "verdict", t: t + 0.3, kind: "noise", age: 300, p: 0.9, over: true });
      if (turn % 2) minute.take({ k: "resume", t: t + 0.4, turn, at: 1 });
      minute.take({ k: turn % 2 ? "finish" : "stop", t: t + 1, turn, at: 2 });
    }
    minute.take({ k: "levels", t, o: [-40, -40, -40, -40, -40], b: [-12, -12, -12, -12, -12] });
    minute.forget(now);
    for (const name in most) {
      most[name] = Math.max(most[name], minute[name].length ?? minute[name].size);
    }
  }
  const times = (list) => list.map((one) => one.t);
  return { most, now, levels: times(minute.levels), marks: minute.marks.map(({ k, t }) => [k, t]) };
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as one:
        yield one


def run(browser: Chromium, *arguments: float) -> dict[str, Any]:
    browser.open("about:blank")
    browser.run((FOLDER / "live_model.js").read_text())
    found: dict[str, Any] = browser.run(f"({RUN})({', '.join(map(str, arguments))})")
    return found


def test_a_day_of_events_takes_the_memory_of_a_minute_and_the_last_minute_is_right(
    browser: Chromium,
) -> None:
    day = run(browser, 0, 86_400, 0)
    assert day["most"]["levels"] <= 25 * 70
    assert day["most"]["marks"] <= 6 * 5
    assert day["most"]["states"] <= 6
    assert day["most"]["answers"] <= 6
    minute = run(browser, 86_400 - 100, 86_400, 0)
    from_s = 86_400 - 60
    for name in ("levels", "marks"):
        told = [[one for one in found[name] if moment(one) >= from_s] for found in (day, minute)]
        assert [kind(one) for one in told[0]] == [kind(one) for one in told[1]]
        assert [moment(one) for one in told[0]] == pytest.approx([moment(one) for one in told[1]])
    assert len([t for t in day["levels"] if t >= from_s]) == pytest.approx(25 * 60, abs=6)


def moment(one: Any) -> float:
    return float(one[1] if isinstance(one, list) else one)


def kind(one: Any) -> str:
    return str(one[0]) if isinstance(one, list) else "level"


@pytest.mark.parametrize("jump_s", [3600, -3600])
def test_a_clock_jump_keeps_the_live_view_within_its_limits(
    browser: Chromium, jump_s: float
) -> None:
    most = run(browser, 0, 7200, jump_s)["most"]
    assert most["levels"] <= 4000
    assert max(most["marks"], most["states"]) <= 2000
    assert most["answers"] <= 40


@pytest.fixture
def served(desk: Desk) -> Iterator[Served]:
    one = served_desk(desk, stream_s=2.0)
    yield one
    one.close()


def opened(browser: Chromium, served: Served, desk: Desk, before: str = "") -> None:
    """Open the live view in a paired browser; `before`: a script to run before the page's own."""
    cookie = desk.box.access.let_in("test")
    address = f"http://127.0.0.1:{served.port}/"
    browser.tell("Network.setCookie", name=COOKIE, value=cookie, url=address, httpOnly=True)
    added = browser.tell("Page.addScriptToEvaluateOnNewDocument", source=before)
    browser.open(address)
    browser.until("document.querySelector('#hint').hidden")
    browser.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def show(served: Served, desk: Desk, *messages: Any) -> None:
    def tell() -> None:
        for message in messages:
            desk.viewers.show(desk.box.model.handle(message, desk.now_s))

    served.do(tell)


def test_an_ended_stream_is_reopened_and_nothing_is_listed_twice(
    browser: Chromium, served: Served, desk: Desk
) -> None:
    opened(browser, served, desk)
    at = round(desk.now_s * RATE_HZ)
    show(
        served, desk,
        SpeechEnded(1, at - 32_000, RATE_HZ, last=True), PlaybackStarted(1, at - 16_000),
        Onset(7, at - 8000, speaking=True), PlaybackPaused(1, 7, 8000, at - 7520),
    )  # fmt: skip
    listed = "[...document.querySelectorAll('#events li span')].map((e) => e.innerText)"
    browser.until(f"{listed}.length === 3 && {listed}[0].includes('30 ms')")
    before = browser.run(listed)
    joined = desk.watched
    until(
        lambda: desk.watched >= joined + 4, within_s=60
    )  # the stream was closed and reopened twice
    show(served, desk, StateChanged("thinking", 2, round(desk.now_s * 1e9)))
    thinks = "document.querySelector('#floor').textContent"
    browser.until(f"{thinks} === JSON.parse(document.querySelector('#texts').textContent)"
                  ".state.thinking")  # fmt: skip
    assert browser.run(listed) == before
    assert browser.run("document.querySelector('#hint').hidden")


HIDDEN = "window.requestAnimationFrame = () => 0;"  # as in a hidden tab
HEAP = "JSHeapUsedSize"


def heap_bytes(browser: Chromium) -> float:
    browser.tell("HeapProfiler.collectGarbage")
    metrics = browser.tell("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == HEAP))


def test_a_hidden_tab_keeps_no_more_than_a_minute(
    browser: Chromium, served: Served, desk: Desk
) -> None:
    """Half an hour has 45,000 levels, 3 MB if they were all kept."""
    served.server.stream_s = 600.0
    opened(browser, served, desk, HIDDEN)
    browser.tell("Performance.enable")
    sizes: list[float] = []
    for minutes in (3, 30):
        for _ in range(minutes * 60):
            desk.now_s += 1.0
            at = round(desk.now_s * RATE_HZ)
            show(
                served,
                desk,
                *(SoundLevels(at + n * 3200, (-40,) * 5, (-12,) * 5) for n in range(5)),
            )
        show(served, desk, StateChanged("thinking", minutes, round(desk.now_s * 1e9)))
        browser.until("document.querySelector('#hero').className.includes('thinking')")
        show(served, desk, StateChanged("idle", minutes, round(desk.now_s * 1e9)))
        browser.until("document.querySelector('#hero').className.includes('idle')")
        sizes.append(heap_bytes(browser))
    assert sizes[1] - sizes[0] < 500_000, sizes
