"""The page as a process of the box: its cost, its privileges, and its messages to the conductor."""

from __future__ import annotations

import http.client
import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from appliance.messages.commands import Announced, ButtonPressed, Mute, Say, StateChanged
from appliance.messages.thinking import Sentence
from appliance.messages.viewing import LiveView, SoundLevels
from appliance.page.page import BEAT_S
from appliance.page.pairing import REACTION_S
from appliance.page.requests import FORM
from appliance.settings import load
from lab.free_port import free_port
from tests.supervised import SupervisedPart

pytestmark = pytest.mark.process

MOST_PSS_MIB = 45.0
MOST_IDLE_SHARE = 0.01  # of a core


class Browser:
    """A browser that keeps its cookies."""

    def __init__(self, port: int) -> None:
        self.port, self.cookies = port, dict[str, str]()

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        host = f"127.0.0.1:{self.port}"
        headers = {
            "Host": host,
            "Origin": f"http://{host}",
            "Content-Type": FORM,
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        connection.request(method, path, urlencode(form or {}), headers)
        reply = connection.getresponse()
        for cookie in reply.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        found = reply.status, reply.read().decode()
        connection.close()
        return found

    def look(self) -> socket.socket:
        """Open an event stream."""
        stream = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        host = f"Host: 127.0.0.1:{self.port}\r\nCookie: {cookies}"
        stream.sendall(f"GET /events?words=1 HTTP/1.1\r\n{host}\r\n\r\n".encode())
        return stream


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupervisedPart]:
    folder = tmp_path_factory.mktemp("state")
    config = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
    with SupervisedPart("page", load(None, {"state_dir": str(folder), "page": config})) as part:
        part.until(lambda: part.supervisor.is_ready)
        yield part


@pytest.fixture(scope="module")
def browser(page: SupervisedPart) -> Browser:
    """A browser paired by the spoken digits."""
    new_browser = Browser(page.supervisor._settings.page.port)
    assert new_browser.ask("POST", "/pair/code")[0] == 303
    page.until(lambda: page.told(Say))
    digits = re.sub(r"\D", "", page.told(Say)[0].text)
    assert new_browser.ask("POST", "/pair", {"code": digits})[0] == 303
    return new_browser


def test_the_process_stays_within_its_memory_limit(page: SupervisedPart, browser: Browser) -> None:
    """The proportional set size (PSS) after the process has served each of its pages."""
    for path in ("/", "/access", "/static/live.js"):
        assert browser.ask("GET", path)[0] == 200
    rollup = Path(f"/proc/{page.pid}/smaps_rollup").read_text()
    pss = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    assert pss
    assert int(pss[1]) / 1024 < MOST_PSS_MIB


def test_without_viewers_the_process_stays_within_its_cpu_limit(page: SupervisedPart) -> None:
    def cpu_s() -> float:
        stat = Path(f"/proc/{page.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    before_s, begun_s = cpu_s(), time.monotonic()
    page.until(lambda: time.monotonic() - begun_s > 5)
    assert (cpu_s() - before_s) / 5 < MOST_IDLE_SHARE


def test_the_process_runs_under_seccomp_and_no_new_privileges(page: SupervisedPart) -> None:
    status = Path(f"/proc/{page.pid}/status").read_text()
    assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)


def test_a_command_of_a_paired_browser_reaches_the_conductor(
    page: SupervisedPart, browser: Browser
) -> None:
    _, text = browser.ask("GET", "/access")
    token = re.search(r'name="token" value="(\w+)"', text)
    assert token
    assert browser.ask("POST", "/do", {"do": "mute", "token": token[1]})[0] == 303
    page.until(lambda: page.told(Mute))
    assert page.told(Mute) == [Mute(on=True)]


def test_a_live_view_receives_events_and_the_conductor_is_told_of_it(
    page: SupervisedPart, browser: Browser
) -> None:
    page.messages.clear()
    stream = browser.look()
    page.until(lambda: page.told(LiveView))
    assert page.told(LiveView)[0] == LiveView(on=True, words=True)
    now_ns = time.monotonic_ns()
    page.mail.send(StateChanged("thinking", 1, now_ns))
    page.mail.send(SoundLevels(now_ns * 16 // 1_000_000, (-40,) * 5, (-96,) * 5))
    page.mail.send(Sentence(1, 0, "Paris."))
    data = b""
    while not all(word in data for word in (b"thinking", b"levels", b"Paris.")):
        data += stream.recv(65_536)
    stream.close()
    page.until(lambda: LiveView(on=False) in page.messages)


def test_a_restarted_conductor_is_told_of_the_live_view(
    page: SupervisedPart, browser: Browser
) -> None:
    stream = browser.look()
    page.until(lambda: page.told(LiveView))
    page.messages.clear()  # a restarted conductor has received none of them
    page.until(lambda: LiveView(on=True, words=True) in page.messages)
    stream.close()
    page.until(lambda: LiveView(on=False) in page.messages)
    page.messages.clear()
    begun_s = time.monotonic()
    page.until(lambda: time.monotonic() - begun_s > 2 * BEAT_S)
    assert page.told(LiveView) == [], "without viewers nothing is sent"


def test_rapid_connects_and_disconnects_do_not_flood_the_conductor(
    page: SupervisedPart, browser: Browser
) -> None:
    page.until(lambda: not page.told(LiveView) or page.told(LiveView)[-1] == LiveView(on=False))
    page.messages.clear()
    begun_s, looks = time.monotonic(), 0
    while time.monotonic() - begun_s < BEAT_S:
        with browser.look() as stream:
            assert stream.recv(20)
        looks += 1
        page.poll()
    page.until(lambda: LiveView(on=False) in page.messages)
    beats = (time.monotonic() - begun_s) / BEAT_S + 1
    assert looks > 5
    assert len(page.told(LiveView)) <= 3 * beats, "one at the start, one or two per beat"


def test_a_press_of_the_button_admits_the_waiting_browser(page: SupervisedPart) -> None:
    new_browser = Browser(page.supervisor._settings.page.port)
    page.messages.clear()
    assert new_browser.ask("POST", "/pair/button")[0] == 303
    page.until(lambda: page.told(Say))
    page.mail.send(ButtonPressed("press"))  # before the announcement was heard
    page.mail.send(Announced(page.told(Say)[0].number, heard=True))
    page.until(lambda: "press its button now" in new_browser.ask("GET", "/pair")[1])
    time.sleep(REACTION_S)
    page.mail.send(ButtonPressed("press"))
    until_s = time.monotonic() + 20
    while new_browser.ask("GET", "/pair")[0] != 303:
        assert time.monotonic() < until_s
        page.poll()
    assert "canvas" in new_browser.ask("GET", "/")[1]


def test_a_paired_browser_stays_paired_after_a_crash_of_the_page(
    page: SupervisedPart, browser: Browser
) -> None:
    before = page.pid
    os.kill(before, 9)
    page.until(lambda: page.supervisor.parts["page"].starts > 1 and page.supervisor.is_ready)
    assert "canvas" in browser.ask("GET", "/")[1]


def test_a_taken_port_delays_nothing_and_the_page_is_served_once_it_is_free(
    tmp_path: Path,
) -> None:
    port = free_port()
    config = {"enabled": True, "port": port, "listen": "127.0.0.1"}
    settings = load(None, {"state_dir": str(tmp_path), "page": config})
    with SupervisedPart("page", settings) as part:
        with socket.create_server(("127.0.0.1", port)):
            part.until(lambda: part.supervisor.is_ready)
        part.until(lambda: serves(port))
        assert part.supervisor.parts["page"].starts == 1


def serves(port: int) -> bool:
    try:
        return Browser(port).ask("GET", "/pair")[0] == 200
    except ConnectionError:
        return False
