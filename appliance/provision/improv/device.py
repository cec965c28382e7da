"""The state machine of an Improv device: replies to phones, and authorization. Pure.

Time is CLOCK_MONOTONIC, which begins when the machine starts. In: writes of a phone, presses of the
button, results of joining the Wi-Fi. Out: the values of the characteristics, and actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from appliance.errors import InterludeError
from appliance.provision.improv.packets import (
    ERROR,
    MOST_DATA,
    RESULT,
    BadPacket,
    CommandReader,
    ImprovCommand,
    ImprovProblem,
    ImprovRequest,
    ImprovState,
    networks_result,
    packet,
)
from appliance.provision.seed import Seed, WifiNetwork, check
from appliance.provision.setup_site import MOST_TRIES, TRIES_A_SECOND
from appliance.token_bucket import TokenBucket

WINDOW_S = 600.0  # after the boot a phone is authorized, if the box has no Wi-Fi and no broker yet
PRESSED_S = 60.0  # authorization after a press of the button, as the protocol advises
PROVISION_S = 180.0  # for the box to join: three tries of 45 s, and its name (setup_session.py)
LEAST_MTU = 23  # bytes of an ATT packet that every phone supports, with its header
ATT_HEAD = 3

WifiInReach = tuple[str, int, bool]  # name, dBm, whether it needs a password


@dataclass(frozen=True)
class IdentifyBox:
    """The box is to identify itself aloud."""


@dataclass(frozen=True)
class SubmitSeed:
    """A validated Wi-Fi for root (submitted_form.py)."""

    seed: Seed


ImprovAction = IdentifyBox | SubmitSeed


@dataclass
class ImprovDevice:
    """An Improv device. `about`: firmware, version, hardware and name of the box. `networks`: in
    range, the strongest first. `settled`: the box had a Wi-Fi or a broker when set-up began;
    only a press authorizes then. `answered`: UUIDs of the characteristics that the last write set,
    also if their values did not change."""

    about: tuple[str, str, str, str]
    networks: Callable[[], list[WifiInReach]]
    started_s: float
    settled: bool = False
    problem: ImprovProblem = ImprovProblem.NONE
    result: bytes = b""
    answered: tuple[str, ...] = ()
    _pressed_s: float = float("-inf")
    _again_until_s: float = float("-inf")  # end of the second authorization by the same press
    _renewed_press_s: float = float("-inf")  # the press that has authorized twice
    _trying_s: float | None = None  # start of the attempt to join a Wi-Fi
    _joined: bytes | None = None  # the result, once the box has joined that Wi-Fi
    _accepted: ImprovRequest | None = None  # the request whose Wi-Fi is tried, or joined
    _reader: CommandReader = field(default_factory=CommandReader)

    def __post_init__(self) -> None:
        self._tries = TokenBucket(MOST_TRIES, TRIES_A_SECOND, self.started_s)

    def state(self, now_s: float) -> ImprovState:
        if self._joined is not None:
            return ImprovState.PROVISIONED
        if self._trying_s is not None:
            return ImprovState.PROVISIONING
        in_window = now_s < WINDOW_S and not self.settled
        if in_window or now_s - self._pressed_s < PRESSED_S or now_s < self._again_until_s:
            return ImprovState.AUTHORIZED
        return ImprovState.AUTHORIZATION_REQUIRED

    def press(self, pressed_s: float) -> None:
        """Note a press of the button at `pressed_s`."""
        self._pressed_s = max(self._pressed_s, pressed_s)

    def write(
        self, data: bytes, now_s: float, phone: str = "", mtu: int = LEAST_MTU
    ) -> ImprovAction | None:
        """Handle a write to the command characteristic. `mtu`: ATT packet size in bytes."""
        self.answered = ()
        try:
            request = self._reader.read(data, now_s, phone)
        except BadPacket as error:
            self._refuse(error.problem)
            return None
        if request is None:
            return None
        self.problem = ImprovProblem.NONE
        match request.command:
            case ImprovCommand.WIFI:
                return self._wifi(request, now_s)
            case ImprovCommand.IDENTIFY:
                return IdentifyBox() if self._is_idle else None
            case ImprovCommand.DEVICE_INFO:
                about = (text.encode()[:60] for text in self.about)
                self._answer(packet(ImprovCommand.DEVICE_INFO, about))
            case ImprovCommand.NETWORKS:
                self._answer(networks_result(self.networks(), max(mtu, LEAST_MTU) - ATT_HEAD))
        return None

    def joined(self, url: str) -> None:
        """Note that the box has joined the Wi-Fi. `url`: of its page there, or ""."""
        if self._trying_s is not None:
            encoded = url.encode()
            strings = [encoded] if 0 < len(encoded) < MOST_DATA else []
            self.result = self._joined = packet(ImprovCommand.WIFI, strings)
            self._trying_s = None

    def failed(self, now_s: float) -> None:
        """Note that the box has not joined. If a press had authorized the attempt, the phone may
        try again for PRESSED_S, once for each press."""
        if self._trying_s is None:
            return
        pressed = 0.0 <= self._trying_s - self._pressed_s < PRESSED_S
        if pressed and self._pressed_s != self._renewed_press_s:
            self._renewed_press_s = self._pressed_s
            self._again_until_s = min(now_s, self._trying_s + PROVISION_S) + PRESSED_S
        self._trying_s = self._accepted = None
        self.problem = ImprovProblem.UNABLE_TO_CONNECT

    def tick(self, now_s: float) -> None:
        """End an attempt without a result after PROVISION_S."""
        if self._trying_s is not None and now_s - self._trying_s > PROVISION_S:
            self.failed(now_s)

    @property
    def _is_idle(self) -> bool:
        return self._joined is None and self._trying_s is None

    def _answer(self, result: bytes) -> None:
        self.result, self.answered = result, (RESULT,)

    def _refuse(self, problem: ImprovProblem) -> None:
        self.problem, self.answered = problem, (ERROR,)

    def _wifi(self, request: ImprovRequest, now_s: float) -> SubmitSeed | None:
        if not self._is_idle and self._tries.try_spend(now_s) and request == self._accepted:
            # A phone that lost its connection meanwhile sends the same request again.
            if self._joined is not None:
                self._answer(self._joined)
            return None
        if self.state(now_s) is not ImprovState.AUTHORIZED or not self._tries.try_spend(now_s):
            self._refuse(ImprovProblem.NOT_AUTHORIZED)
            return None
        name, password = request.strings
        try:
            name.decode()  # the form's file is text, and phones can type only text
            seed = Seed(wifi=WifiNetwork(name, password.decode()))
            check(seed)
        except (InterludeError, UnicodeDecodeError):
            self._refuse(ImprovProblem.UNABLE_TO_CONNECT)  # no Wi-Fi has such a name or password
            return None
        self._trying_s, self._accepted = now_s, request
        return SubmitSeed(seed)
