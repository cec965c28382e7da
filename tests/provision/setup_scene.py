"""A box and its networks, as a set-up sees them. Its clock advances while the set-up sleeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import SeedRefused
from appliance.provision.network_manager import OURS, UNCONFIRMED, JoinedNetwork, WifiInReach
from appliance.provision.seed import Seed, WifiNetwork
from appliance.provision.setup_session import (
    SetupSession,
)
from appliance.runtime import network_status as network

PASSWORD = ("amber", "canoe", "maple", "tulip", "zebra")
WRONG = "The Wi-Fi Home does not accept the password that I have."
CABLE, WIFI = (
    JoinedNetwork("ethernet", "eth0", "Wired connection 1"),
    JoinedNetwork("wifi", "wlan0", "Home"),
)
HOME = Seed(wifi=WifiNetwork(b"Home", "correct horse"), country="DE")


@dataclass
class PaperRadio:
    """The networks of a machine. `answers`: the errors of the next attempts to join; "" for
    success."""

    network: JoinedNetwork | None = None
    has_profile: bool = False
    wifi: str = "wlan0"
    answers: list[str] = field(default_factory=lambda: [""])
    story: list[str] = field(default_factory=list)
    joins: Callable[[], None] = lambda: None

    def joined(self) -> JoinedNetwork | None:
        return self.network

    def known(self) -> list[str]:
        return ["interlude-wifi"] * self.has_profile

    def device(self) -> str:
        return self.wifi

    def in_reach(self) -> list[WifiInReach]:
        return [WifiInReach("Home", -52, True), WifiInReach("Neighbour", -81, False)]

    def open(self, name: str, password: str) -> None:
        assert password == "".join(PASSWORD)
        self.story.append(f"open {name}")

    def close(self) -> None:
        self.story.append("close")

    def join(self) -> str:
        self.story.append("join")
        return self.answered()

    def enter(self, name: str) -> str:
        self.story.append("enter ours" if name == OURS else "enter unconfirmed")
        return self.answered()

    def see_unconfirmed(self) -> str:
        return ""

    def answered(self) -> str:
        self.joins()
        answer = self.answers.pop(0)
        self.network = self.network if answer else WIFI
        return answer


@dataclass
class Scene:
    """`at`: actions by their time in seconds. `folder`: the folder of root. `page`: the folder of
    the page."""

    folder: Path
    page: Path
    radio: PaperRadio = field(default_factory=PaperRadio)
    said: list[str] = field(default_factory=list)
    applied: list[Seed] = field(default_factory=list)
    at: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    refuses: str = ""
    public: list[network.NetworkStatus] = field(default_factory=list)
    time_s: float = 0.0
    box_up_s: float = 0.0  # the time from which the box accepts sentences to speak
    own_name: str = "interlude.local"
    untouched: bool = False
    settled: bool = False
    tried: bool = False  # the Wi-Fi is not kept yet
    card: str = ""
    logged: list[str] = field(default_factory=list)
    open_when_joining: list[str] = field(default_factory=list)

    def says(self, sentence: str) -> bool:
        if self.time_s < self.box_up_s:
            return False
        self.said.append(sentence)
        return True

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds
        assert self.time_s < 20_000, "the set-up never ends"
        self.public.append(network.read_status(self.folder))
        while self.at and self.at[0][0] <= self.time_s:
            self.at.pop(0)[1]()

    def apply(self, seed: Seed, *, confirmed: bool) -> str:
        if self.refuses:
            problem, self.refuses = self.refuses, ""
            raise SeedRefused(problem)
        self.applied.append(seed)
        self.tried = seed.wifi is not None
        return OURS if confirmed else UNCONFIRMED

    def keep_wifi(self, name: str) -> None:
        self.tried = False

    def put_back_wifi(self) -> bool:
        before, self.tried = self.tried, False
        return before

    def run(self, *, asked: bool = False, first: bool = True) -> str:
        self.radio.joins = lambda: self.open_when_joining.append(
            network.read_status(self.folder).setup
        )
        made = SetupSession(
            self.radio, self.says, self, self.folder, self.page, self.folder,
            logs=self.logged.append, own_name=lambda: self.own_name, host=lambda: "interlude",
            untouched=lambda: self.untouched, settled=lambda: self.settled, first=first,
            card=self.card, now_s=lambda: self.time_s, sleep=self.sleep, name="Interlude 4711",
            password=PASSWORD,
        )  # fmt: skip
        return made.run(asked=asked)

    @property
    def shown(self) -> set[network.NetworkStatus]:
        """Every public status during the set-up."""
        return set(self.public)

    @property
    def left(self) -> list[str]:
        """The files that are left at the end, without the public status."""
        return [
            path.name
            for path in (*self.folder.iterdir(), *self.page.iterdir())
            if path.name != network.FILE
        ]
