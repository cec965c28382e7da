"""Sets a box up by voice and page, if it has no network or has not been set up yet.

The box opens a Wi-Fi of its own, says how to join it, and waits for the form of its page, which an
unprivileged process serves (setup_server.py). Root accepts the fields of that form only
(submitted_form.py), and applies them as a seed on the card. The own Wi-Fi is closed every few
minutes to try a known one, since one radio cannot do both. Runs as root, without network access.
"""

from __future__ import annotations

import contextlib
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
from appliance.provision.network_manager import ADDRESS, UNCONFIRMED, JoinedNetwork, WifiInReach
from appliance.provision.refusal import SayableRefusal, sentence_of
from appliance.provision.seed import Seed, check
from appliance.provision.setup_access import FOLDER, OPEN, PROBLEM, SetupAccess
from appliance.provision.setup_changes import SetupChanges
from appliance.provision.setup_invitations import AGAIN_S, REPEATS, SetupInvitations
from appliance.provision.setup_networks import SetupNetworks
from appliance.runtime import network_status

NETWORK_S = 60.0  # wait after a boot for a connection by cable or Wi-Fi
KNOWN_S = 30.0  # wait for a known Wi-Fi; then the session itself tries it, for up to 45 s
CLOSED_S = 300.0  # the box's own Wi-Fi stays open so long before a known one is tried again,
USED_S = 600.0  # or so long after the last use of the page,
MOST_USED_S = 1200.0  # but no longer than this
ASKED_S = 900.0  # it stays open so long beside a cable, or if the button asked for it
STARTS_S = 180.0  # longest start of the voice processes, with a large model
OPEN_TRIES = 4  # of its own Wi-Fi
LOOK_S = 1.0

# Why the wait at the page ended without a seed.
Ended = Literal["in a network", "try the known one", "long enough"]


def insist(
    taken: Callable[[], bool], now_s: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Call `taken` until it returns True, for at most STARTS_S, the longest start of the box."""
    limit = now_s() + STARTS_S
    while not taken() and now_s() < limit:
        sleep(AGAIN_S)


@dataclass
class SetupSession:
    """One set-up.

    says      says a sentence aloud; False if the box, which may be starting, did not take it
    changes   applies a seed to the box
    logs      logs why the box is in no network, once for each reason
    own_name  mDNS name of the box in its network: kitchen.local; "" if unknown
    host      the configured host name: kitchen
    untouched whether the box has not been set up yet
    settled   whether the box has a Wi-Fi or a broker: then a Wi-Fi that is typed into a set-up that
              nobody asked for is joined, but not confirmed (setup_changes.py)
    first     first set-up since the boot: only this one announces the box's name, if it has to
    card      problem of a file on the card; for `interlude check`
    pages          later address of the page (setup_access.SetupAccess)
    password       of its own Wi-Fi: words, typed without spaces
    words          catalogue of the spoken language; the log and `interlude check` have English
    folder, page   folders of root and of the page; `page_uid`: required owner of the page's files
    public         folder of the world-readable network status (runtime/network_status.py)
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
    settled: Callable[[], bool] = lambda: False
    first: bool = True
    card: str = ""
    page_uid: int = field(default_factory=os.geteuid)
    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    name: str = field(default_factory=lambda: f"Interlude {secrets.randbelow(9000) + 1000}")
    pages: str = ""
    password: tuple[str, ...] = field(default_factory=password_words.password)
    words: Catalogue = field(default_factory=english)
    why: setup_sentences.Sentence = field(default="", init=False)  # reason of the set-up
    _confirmed: bool = field(
        default=True, init=False
    )  # the Wi-Fi that is typed replaces the saved one
    _cable_name: str = field(default="", init=False)  # name by cable of a box not set up yet
    _wifi: str = field(default="", init=False)  # why the configured Wi-Fi failed
    _invitations: SetupInvitations = field(init=False)
    _logged: str = field(default="", init=False)
    _use_ns: int | None = field(default=None, init=False)  # last mtime of the page's file `used`,
    _use_s: float = field(default=float("-inf"), init=False)  # and when it was read

    def run(self, *, asked: bool = False) -> str:
        """Set up if that is needed, or `asked` for. Returns the result in a word or two.

        Raises StorageError, and says it aloud, if no Wi-Fi can be opened.
        """
        self._wifi = network_status.read_status(self.public).wifi
        # A network that was lost after the boot may come back: invite once only, also at night.
        self._invitations = SetupInvitations(self.says, REPEATS if asked or self.first else 1)
        joined = self._joined() if asked else self._wait_for_network()
        if joined is not None and not asked:
            return self._found_network(joined)
        self.why = setup_sentences.ASKED if asked else self.why or setup_sentences.NO_NETWORK
        if not self.radio.device():
            self._publish(self.why)
            self.insist(setup_sentences.NEEDS_CABLE.text(self.words))
            return "no Wi-Fi in this machine"
        cable = joined is not None and joined.kind == "ethernet"
        return self._run_set_up(asked=asked, cable=cable)

    def insist(self, sentence: str) -> None:
        """Say a sentence as soon as the box can; give up after STARTS_S without an error."""
        insist(lambda: self.says(sentence), self.now_s, self.sleep)

    def _wait_for_network(self) -> JoinedNetwork | None:
        """Wait for a network, with one attempt to join a known Wi-Fi; None if there is none."""
        started_s = self.now_s()
        while (joined := self._joined()) is None:
            waited_s = self.now_s() - started_s
            if waited_s >= KNOWN_S and self.radio.device() and self.radio.known():
                self.why = self._join()
                return self._joined()
            if waited_s >= NETWORK_S:
                return None
            self.sleep(LOOK_S)
        return joined

    def _found_network(self, joined: JoinedNetwork) -> str:
        """End in a network, or set up beside a cable if the box has not been set up yet. The box
        says its mDNS name if its owner does not know it or expects another."""
        name = self._publish_name()
        if not self.first:
            return "in a network"
        if joined.kind == "ethernet" and self.untouched():
            self.why, self._cable_name = setup_sentences.BY_CABLE, name or self.host()
            if self.radio.device():
                return self._run_set_up(asked=False, cable=True)
            self.insist(f"{self._why_aloud()} {setup_sentences.NEEDS_SEED.text(self.words)}")
        elif name and name != f"{self.host()}.local":
            self.insist(setup_sentences.other_name(self.host(), name, self.words))
        return "in a network"

    def _publish_name(self) -> str:
        with contextlib.suppress(StorageError):
            self.radio.see_unconfirmed()  # NetworkManager may have gone to another Wi-Fi meanwhile
        joined, name = self._joined(), self.own_name()
        if joined is not None and joined.kind == "wifi":
            self._wifi = ""
        self._write_public(network_status.NetworkStatus(name=name))
        return name

    def _run_set_up(self, *, asked: bool, cable: bool) -> str:
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
                self._publish_name()
            else:
                self._publish(self.why)

    def _until_set_up(self, *, asked: bool, cable: bool) -> str:
        settled = self.settled()  # before a form brings a Wi-Fi
        self._confirmed = asked or not settled
        while True:
            networks = self._in_reach()
            self._open()
            self._publish("" if cable else self.why, setup=self.name)
            access = SetupAccess(
                ADDRESS, networks=networks, cable=cable, asked=asked, settled=settled,
                language=self.words.language, pages=self.pages,
            )  # fmt: skip
            self._write(OPEN, msgspec.json.encode(access))
            seed = self._wait_for_seed(asked=asked, cable=cable)
            if seed == "in a network":
                self.says(self.words.say("setup-in-a-network"))
                return seed
            self._clear(OPEN)
            if isinstance(seed, str):
                self._close()
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
            if self._apply(seed):
                return "set up"

    def _joined(self) -> JoinedNetwork | None:
        """The network; None also while NetworkManager is starting: callers ask again."""
        try:
            return self.radio.joined()
        except StorageError:
            return None

    def _join(self, name: str = "") -> setup_sentences.Sentence:
        problem = self.radio.enter(name) if name else self.radio.join()
        self._wifi = setup_sentences.in_words(problem, english())
        return problem

    def _why_aloud(self) -> str:
        why = setup_sentences.in_words(self.why, self.words)
        return f"{why} {setup_sentences.called(self._cable_name, self.words)}".strip()

    def _in_reach(self) -> tuple[WifiInReach, ...]:
        """The Wi-Fi networks for the page; none after an error, since a name can be typed too."""
        try:
            return tuple(self.radio.in_reach())
        except StorageError:
            return ()

    def _open(self) -> None:
        """Open the Wi-Fi; retry while the radio scans or disconnects. Raises StorageError."""
        for tries_left in range(OPEN_TRIES - 1, -1, -1):
            try:
                self.radio.open(self.name, "".join(self.password))
            except StorageError:
                if not tries_left:
                    raise
                self.sleep(AGAIN_S)
            else:
                return

    def _close(self) -> None:
        self.radio.close()
        self._publish("" if self._joined() else self.why)

    def _apply(self, seed: Seed) -> bool:
        self._clear(PROBLEM)
        try:
            if seed.wifi is None and self._joined() is None:  # the cable was pulled out
                raise SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-missing"))
            name = self.changes.apply(seed, confirmed=self._confirmed)
            if seed.wifi is not None:
                self.says(self.words.say("setup-joining"))
                self._close()
                if problem := self._join(name):  # only the typed Wi-Fi counts as a success
                    self.why = problem
                    self._announce_problem(problem)
                    return False
                self.changes.keep_wifi(name)
        except InterludeError as error:
            self._announce_problem(sentence_of(error))
            return False
        called = setup_sentences.called(self.own_name(), self.words)
        later = self.words.say("setup-unconfirmed") if name == UNCONFIRMED else ""
        self.says(" ".join(filter(None, [self.words.say("setup-done"), called, later])))
        return True

    def _wait_for_seed(self, *, asked: bool, cable: bool) -> Seed | Ended:
        """Wait for a form; return its seed, or why the wait ended without one."""
        started_s = self.now_s()
        open_s = ASKED_S if asked or cable else CLOSED_S
        known = bool(self.radio.known())
        while True:
            self._invitations.invite(self._invitation, self.now_s())
            if submitted_form.pop_identify(self.page):
                self._invitations.identify(self.words.say("setup-identify"), self.now_s())
            try:
                if (seed := self._pop_seed()) is not None:
                    return seed
            except InterludeError as error:
                self._write(PROBLEM, str(error).encode())
            if not (asked or cable) and self._joined() is not None:
                return "in a network"
            used_s = min(self._used_s() + USED_S, started_s + MOST_USED_S)
            if (cable or known) and self.now_s() >= max(started_s + open_s, used_s):
                return "long enough" if asked or cable else "try the known one"
            self.sleep(LOOK_S)

    def _used_s(self) -> float:
        """Last use of the page, by this process's clock; −inf if it was never used."""
        used_ns = submitted_form.last_used_ns(self.page)
        if used_ns is not None and used_ns != self._use_ns:
            self._use_ns, self._use_s = used_ns, self.now_s()
        return self._use_s

    def _invitation(self) -> str:
        why = self._why_aloud()
        return setup_sentences.invitation(why, self.name, self.password, self.words)

    def _pop_seed(self) -> Seed | None:
        """Read a submitted form once. Raises SeedRefused."""
        seed = submitted_form.pop_form(self.page, self.page_uid)
        if seed is not None:
            check(seed)
            if seed.empty:
                raise SayableRefusal(BoxSentence.of("setup-page-wrong-nothing"))
        return seed

    def _announce_problem(self, problem: setup_sentences.Sentence) -> None:
        """Say a problem aloud and show it on the page."""
        text = setup_sentences.in_words(problem, self.words)
        self._write(PROBLEM, text.encode())
        self.says(text)

    def _publish(self, why: setup_sentences.Sentence, setup: str = "") -> None:
        problem = setup_sentences.in_words(why, english())
        if problem and problem != self._logged:
            self.logs(problem)
        self._logged = problem
        self._write_public(network_status.NetworkStatus(problem=problem, setup=setup))

    def _write_public(self, network: network_status.NetworkStatus) -> None:
        unconfirmed = network_status.read_status(self.public).unconfirmed
        status = msgspec.structs.replace(
            network, wifi=self._wifi, card=self.card, unconfirmed=unconfirmed
        )
        network_status.write_status(status, self.public)

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self.folder / name, data, lasting=False)

    def _clear(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
