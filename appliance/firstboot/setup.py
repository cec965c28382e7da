"""Setting a box up by voice and page: no network, and nobody has said of one.

The box opens a Wi-Fi of its own, says how to join it, and waits for what is typed into its page
(serve.py, which has no rights). Of that page root takes the page's own fields and nothing else
(typed.py); then they go the same way as a seed on the card. Runs as root, without a network itself.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from appliance.errors import InterludeError, StorageError
from appliance.files import write_whole
from appliance.firstboot import typed, words
from appliance.firstboot.radio import ADDRESS
from appliance.firstboot.seed import Seed, check
from appliance.firstboot.serve import FOLDER, OPEN, PROBLEM, Opened

NETWORK_S = 60.0  # after a start, for a cable or a Wi-Fi that is known
REPEAT_S = 90.0  # between two tellings of how to join
REPEATS = 20  # half an hour; then it is silent, and still open
STARTS_S = 180.0  # a box that loads a large model
AGAIN_S = 3.0  # between two tries to say something to a box that is starting
LOOK_S = 1.0


class Radios(Protocol):
    """What of the networks set-up needs; Radio is the real one."""

    def connected(self) -> bool: ...
    def known(self) -> bool: ...
    def device(self) -> str: ...
    def names(self) -> list[str]: ...
    def open(self, name: str, password: str) -> None: ...
    def close(self) -> None: ...
    def join(self) -> bool: ...


def insist(
    taken: Callable[[], bool], now_s: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Try until the box took it, for as long as one may need to start (STARTS_S)."""
    limit = now_s() + STARTS_S
    while not taken() and now_s() < limit:
        sleep(AGAIN_S)


@dataclass(frozen=True)
class SetUp:
    """One set-up.

    says   a sentence aloud, and whether the box took it, which may still be starting
    apply  brings the box to a seed
    password       of its own Wi-Fi: words, typed as one
    folder, page   root's and the page's; `page_uid`: whose the files in the second have to be
    """

    radio: Radios
    says: Callable[[str], bool]
    apply: Callable[[Seed], object]
    folder: Path = FOLDER
    page: Path = typed.FOLDER
    page_uid: int = field(default_factory=os.geteuid)
    now_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    name: str = field(default_factory=lambda: f"Interlude {secrets.randbelow(9000) + 1000}")
    password: tuple[str, ...] = field(default_factory=words.password)

    def run(self, *, asked: bool = False) -> str:
        """Set up if that is needed, or `asked` for. Returns how it ended, in a word or two.

        Raises StorageError, said aloud, where no Wi-Fi can be opened.
        """
        if not asked:
            limit = self.now_s() + NETWORK_S
            while not self.radio.connected():
                if self.radio.known():
                    return "a Wi-Fi is set up, and may be out of reach"
                if self.now_s() >= limit:
                    break
                self.sleep(LOOK_S)
            else:
                return "in a network"
        if not self.radio.device():
            self.insist("I have no network. Plug in a network cable.")
            return "no Wi-Fi in this machine"
        try:
            return self._until_set_up(asked=asked)
        except StorageError as error:
            self.says(f"I have no network, and cannot open a Wi-Fi of my own. {error.problem}")
            raise
        finally:
            self._clear(OPEN, PROBLEM)
            typed.clear(self.page)
            self.radio.close()

    def insist(self, sentence: str) -> None:
        """Aloud, as soon as the box can; one that stays away is no reason to stop."""
        insist(lambda: self.says(sentence), self.now_s, self.sleep)

    def _until_set_up(self, *, asked: bool) -> str:
        names = tuple(self.radio.names())
        typed.clear(self.page)
        while True:
            self.radio.open(self.name, "".join(self.password))
            self._write(OPEN, msgspec.json.encode(Opened(ADDRESS, names=names)))
            seed = self._wait_for_seed(asked=asked)
            if seed is None:
                self.says("I am in a network now. Set-up is over.")
                return "in a network"
            self._clear(OPEN, PROBLEM)
            try:
                self.apply(seed)
            except InterludeError as error:
                self._tell(str(error))
                continue
            self.says("Thank you. I am joining your network.")
            self.radio.close()
            if self.radio.join():
                self.says("I am in your network, and set up.")
                return "set up"
            self._tell("The Wi-Fi did not let me in. Is its password right?")

    def _wait_for_seed(self, *, asked: bool) -> Seed | None:
        """What was typed; None when a network came by itself."""
        told, next_s = 0, self.now_s()
        while True:
            if told < REPEATS and self.now_s() >= next_s:
                heard = self.says(self.invitation(asked=asked))
                told, next_s = told + heard, self.now_s() + (REPEAT_S if heard else AGAIN_S)
            try:
                if (seed := self._typed()) is not None:
                    return seed
            except InterludeError as error:
                self._write(PROBLEM, str(error).encode())
            if not asked and self.radio.connected():
                return None
            self.sleep(LOOK_S)

    def _typed(self) -> Seed | None:
        """Raises SeedRefused."""
        seed = typed.take(self.page, self.page_uid)
        if seed is not None:
            check(seed)
        return seed

    def invitation(self, *, asked: bool = False) -> str:
        """As it is said aloud: digits one by one, or they would be said as a number; the password
        word by word, each of them a sentence, so that there is a pause to type it in."""
        number = " ".join(self.name.removeprefix("Interlude "))
        password = ". ".join(word.capitalize() for word in self.password)
        address = ADDRESS.replace(".", " dot ")
        why = "I am ready to be set up." if asked else "I have no network."
        return (
            f"{why} With a phone, join the Wi-Fi named Interlude {number}. Its password is "
            f"five words, typed as one, in small letters, without spaces. "
            f"They are: {password}. Then open {address}."
        )

    def _tell(self, problem: str) -> None:
        """Aloud, and on the page."""
        self._write(PROBLEM, problem.encode())
        self.says(problem)

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self.folder / name, data, lasting=False)

    def _clear(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
