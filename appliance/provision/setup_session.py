"""Setting a box up by voice and page: it has no network, or nobody has said anything to it yet.

The box opens a Wi-Fi of its own, says how to join it, and waits for what is typed into its page
(setup_server.py, which has no rights). Of that page root takes the page's own fields and nothing
else (submitted_form.py); then they go the same way as a seed on the card. A Wi-Fi that is known is
tried again every few minutes: one radio cannot do both at once. Runs as root, without a network
itself.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from appliance.atomic_file import write_whole
from appliance.errors import InterludeError, StorageError
from appliance.language.catalogue import BoxSentence, Catalogue, english
from appliance.provision import password_words, setup_sentences, submitted_form
from appliance.provision.network_manager import ADDRESS, JoinedNetwork, WifiInReach
from appliance.provision.refusal import SayableRefusal, sentence_of
from appliance.provision.seed import Seed, check
from appliance.provision.setup_changes import SetupChanges
from appliance.provision.setup_networks import SetupNetworks
from appliance.provision.setup_server import FOLDER, OPEN, PROBLEM, SetupAccess
from appliance.runtime import network_status

NETWORK_S = 60.0  # after a start, for a cable or a Wi-Fi
KNOWN_S = 30.0  # for a Wi-Fi that is known; then the box asks for it itself, for up to 45 s
CLOSED_S = 300.0  # the box's own Wi-Fi is open so long before a known one is tried again,
USED_S = 600.0  # or, after somebody had the page, so long,
MOST_USED_S = 1200.0  # and no longer than this, be it used without end
ASKED_S = 900.0  # it is open so long beside a cable, or where somebody asked for it
REPEAT_S = 90.0  # between two tellings of how to join
REPEATS = 20  # half an hour; then it is silent, and still open
STARTS_S = 180.0  # a box that loads a large model
OPEN_TRIES = 4  # of its own Wi-Fi
AGAIN_S = 3.0  # between two tries to open it, or to say something to a box that is starting
LOOK_S = 1.0
IDENTIFY_S = 15.0  # between two sayings that this is the box

# Why the wait at the page ended without a seed.
Ended = Literal["in a network", "try the known one", "long enough"]


def insist(
    taken: Callable[[], bool], now_s: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Try until the box took it, for as long as one may need to start (STARTS_S)."""
    limit = now_s() + STARTS_S
    while not taken() and now_s() < limit:
        sleep(AGAIN_S)


@dataclass
class SetupSession:
    """One set-up.

    says      a sentence aloud, and whether the box took it, which may still be starting
    changes   brings the box to a seed
    logs      why the box is in no network, once for each reason
    own_name  of the box in its network, as others find it: kitchen.local; "" if nobody knows
    host      the name that it is to have there: kitchen
    untouched whether nobody has set anything up yet
    first     it is the first since the machine started: then it says its name where that matters
    card      what a file on the card says that could not be used; for `interlude check`
    pages          where the page will be (setup_server.SetupAccess)
    password       of its own Wi-Fi: words, typed as one
    words          what it says; the log and `interlude check` have English
    folder, page   root's and the page's; `page_uid`: whose the files in the second have to be
    public         where anybody may read how the network is (runtime/network_status.py)
    """

    radio: SetupNetworks
    says: Callable[[str], bool]
    changes: SetupChanges
    folder: Path = FOLDER
    page: Path = submitted_form.FOLDER
    public: Path = network_status.FOLDER
    logs: Callable[[str], object] = lambda problem: None
    own_name: Callable[[], str] = lambda: ""
    host: Callable[[], str] = lambda: ""
    untouched: Callable[[], bool] = lambda: False
    first: bool = True
    card: str = ""
    page_uid: int = field(default_factory=os.geteuid)
    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    name: str = field(default_factory=lambda: f"Interlude {secrets.randbelow(9000) + 1000}")
    pages: str = ""
    password: tuple[str, ...] = field(default_factory=password_words.password)
    words: Catalogue = field(default_factory=english)
    why: setup_sentences.Sentence = field(default="", init=False)  # there is set-up
    _cable_name: str = field(default="", init=False)  # in the network of a box that nobody set up
    _wifi: str = field(default="", init=False)  # why the Wi-Fi that is set up let nobody in
    _tellings: int = field(default=REPEATS, init=False)  # of how to join
    _logged: str = field(default="", init=False)
    _told: int = field(default=0, init=False)
    _tell_s: float = field(default=float("-inf"), init=False)
    _identify_s: float = field(default=float("-inf"), init=False)
    _seen: int | None = field(default=None, init=False)  # the page's newest note of its use,
    _seen_s: float = field(default=float("-inf"), init=False)  # and when it was seen

    def run(self, *, asked: bool = False) -> str:
        """Set up if that is needed, or `asked` for. Returns how it ended, in a word or two.

        Raises StorageError, said aloud, where no Wi-Fi can be opened.
        """
        self._wifi = network_status.read_status(self.public).wifi
        # A network that is lost later may come back: it is said once, whatever hour it is.
        self._tellings = REPEATS if asked or self.first else 1
        joined = self._joined() if asked else self._comes()
        if joined is not None and not asked:
            return self._in_a_network(joined)
        self.why = setup_sentences.ASKED if asked else self.why or setup_sentences.NO_NETWORK
        if not self.radio.device():
            self._publish(self.why)
            self.insist(setup_sentences.NEEDS_CABLE.text(self.words))
            return "no Wi-Fi in this machine"
        cable = joined is not None and joined.kind == "ethernet"
        return self._opened(asked=asked, cable=cable)

    def insist(self, sentence: str) -> None:
        """Aloud, as soon as the box can; one that stays away is no reason to stop."""
        insist(lambda: self.says(sentence), self.now_s, self.sleep)

    def _comes(self) -> JoinedNetwork | None:
        """The network that comes by itself, or by one try at the Wi-Fi that is known."""
        begun_s = self.now_s()
        while (joined := self._joined()) is None:
            waited_s = self.now_s() - begun_s
            if waited_s >= KNOWN_S and self.radio.device() and self.radio.known():
                self.why = self._join()
                return self._joined()
            if waited_s >= NETWORK_S:
                return None
            self.sleep(LOOK_S)
        return joined

    def _in_a_network(self, joined: JoinedNetwork) -> str:
        """The box says its name there, where its owner would look for another, or does not know."""
        name = self._named()
        if not self.first:
            return "in a network"
        if joined.kind == "ethernet" and self.untouched():
            self.why, self._cable_name = setup_sentences.BY_CABLE, name or self.host()
            if self.radio.device():
                return self._opened(asked=False, cable=True)
            self.insist(f"{self._why_aloud()} {setup_sentences.NEEDS_SEED.text(self.words)}")
        elif name and name != f"{self.host()}.local":
            self.insist(setup_sentences.other_name(self.host(), name, self.words))
        return "in a network"

    def _named(self) -> str:
        joined, name = self._joined(), self.own_name()
        if joined is not None and joined.kind == "wifi":
            self._wifi = ""
        self._write_public(network_status.NetworkStatus(name=name))
        return name

    def _opened(self, *, asked: bool, cable: bool) -> str:
        submitted_form.clear(self.page)
        try:
            return self._until_set_up(asked=asked, cable=cable)
        except StorageError as error:
            if self.first:
                self.says(self.words.say("setup-no-wifi-of-my-own", problem=error.problem))
            raise
        finally:
            self._clear(OPEN, PROBLEM)
            submitted_form.clear(self.page)
            if asked:
                self.changes.put_back_wifi()  # also after an error
            self.radio.close()
            if self._joined() is not None:
                self._named()
            else:
                self._publish(self.why)

    def _until_set_up(self, *, asked: bool, cable: bool) -> str:
        while True:
            networks = self._in_reach()
            self._open()
            self._publish("" if cable else self.why, setup=self.name)
            opened = SetupAccess(
                ADDRESS, networks=networks, cable=cable, asked=asked,
                language=self.words.language, pages=self.pages,
            )  # fmt: skip
            self._write(OPEN, msgspec.json.encode(opened))
            seed = self._wait_for_seed(asked=asked, cable=cable)
            if seed == "in a network":
                self.says(self.words.say("setup-in-a-network"))
                return seed
            self._clear(OPEN)
            if isinstance(seed, str):
                self._closed()
            if seed == "long enough":
                before = asked and self.changes.put_back_wifi()
                self.why = "" if cable else self._join()
                if before and not cable and not self.why:
                    self.says(self.words.say("setup-wifi-as-before"))
                return "nobody came"
            if seed == "try the known one":
                if not (problem := self._join()):
                    self.says(self.words.say("setup-in-your-wifi"))
                    return "in a network"
                self.why = problem
                continue
            if self._applied(seed, asked=asked):
                return "set up"

    def _joined(self) -> JoinedNetwork | None:
        """A NetworkManager that is not up, or does not answer, is asked again a second later."""
        try:
            return self.radio.joined()
        except StorageError:
            return None

    def _join(self, *, ours: bool = False) -> setup_sentences.Sentence:
        problem = self.radio.enter_ours() if ours else self.radio.join()
        self._wifi = setup_sentences.in_words(problem, english())
        return problem

    def _why_aloud(self) -> str:
        why = setup_sentences.in_words(self.why, self.words)
        return f"{why} {setup_sentences.called(self._cable_name, self.words)}".strip()

    def _in_reach(self) -> tuple[WifiInReach, ...]:
        """For the page, where a name may be typed as well."""
        try:
            return tuple(self.radio.in_reach())
        except StorageError:
            return ()

    def _open(self) -> None:
        """Raises StorageError. A radio that has just left a network, or looks for some, says no."""
        for tries_left in range(OPEN_TRIES - 1, -1, -1):
            try:
                self.radio.open(self.name, "".join(self.password))
            except StorageError:
                if not tries_left:
                    raise
                self.sleep(AGAIN_S)
            else:
                return

    def _closed(self) -> None:
        self.radio.close()
        self._publish("" if self._joined() else self.why)

    def _applied(self, seed: Seed, *, asked: bool) -> bool:
        self._clear(PROBLEM)
        try:
            if seed.wifi is None and self._joined() is None:  # the cable was pulled out
                raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
            self.changes.apply(seed, tried=asked)
            if seed.wifi is not None:
                self.says(self.words.say("setup-joining"))
                self._closed()
                if problem := self._join(ours=True):  # another that is known is not what was typed
                    self.why = problem
                    self._announce_problem(problem)
                    return False
                self.changes.keep_wifi()
        except InterludeError as error:
            self._announce_problem(sentence_of(error))
            return False
        name = setup_sentences.called(self.own_name(), self.words)
        self.says(f"{self.words.say('setup-done')} {name}".strip())
        return True

    def _wait_for_seed(self, *, asked: bool, cable: bool) -> Seed | Ended:
        """What was typed, or why nobody need type any more."""
        begun_s = self.now_s()
        open_s = ASKED_S if asked or cable else CLOSED_S
        known = bool(self.radio.known())
        while True:
            self._invite()
            self._identify()
            try:
                if (seed := self._typed()) is not None:
                    return seed
            except InterludeError as error:
                self._write(PROBLEM, str(error).encode())
            if not (asked or cable) and self._joined() is not None:
                return "in a network"
            used_s = min(self._used_s() + USED_S, begun_s + MOST_USED_S)
            if (cable or known) and self.now_s() >= max(begun_s + open_s, used_s):
                return "long enough" if asked or cable else "try the known one"
            self.sleep(LOOK_S)

    def _used_s(self) -> float:
        """When somebody had the page last, by our own clock; long ago if nobody had it."""
        seen = submitted_form.last_used_ns(self.page)
        if seen is not None and seen != self._seen:
            self._seen, self._seen_s = seen, self.now_s()
        return self._seen_s

    def _invite(self) -> None:
        if self._told < self._tellings and self.now_s() >= self._tell_s:
            heard = self.says(
                setup_sentences.invitation(self._why_aloud(), self.name, self.password, self.words)
            )
            self._told += heard
            self._tell_s = self.now_s() + (REPEAT_S if heard else AGAIN_S)

    def _identify(self) -> None:
        """Say that this is the box, to who asked for it by Bluetooth."""
        if submitted_form.pop_identify(self.page) and self.now_s() >= self._identify_s:
            self._identify_s = self.now_s() + IDENTIFY_S
            self.says(self.words.say("setup-identify"))

    def _typed(self) -> Seed | None:
        """Raises SeedRefused."""
        seed = submitted_form.pop_form(self.page, self.page_uid)
        if seed is not None:
            check(seed)
            if seed.empty:
                raise SayableRefusal(BoxSentence.of("setup-page-wrong-nothing"))
        return seed

    def _announce_problem(self, problem: setup_sentences.Sentence) -> None:
        """Aloud, and on the page."""
        said = setup_sentences.in_words(problem, self.words)
        self._write(PROBLEM, said.encode())
        self.says(said)

    def _publish(self, why: setup_sentences.Sentence, setup: str = "") -> None:
        problem = setup_sentences.in_words(why, english())
        if problem and problem != self._logged:
            self.logs(problem)
        self._logged = problem
        self._write_public(network_status.NetworkStatus(problem=problem, setup=setup))

    def _write_public(self, found: network_status.NetworkStatus) -> None:
        kept = msgspec.structs.replace(found, wifi=self._wifi, card=self.card)
        network_status.write_status(kept, self.public)

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self.folder / name, data, lasting=False)

    def _clear(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
