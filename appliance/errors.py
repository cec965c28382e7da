"""Every error raised on purpose: a sentence for the owner and an exit code for the shell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ShownAs(NamedTuple):
    """What the page says of an error: a key of the catalogue (language/catalogue.py), and values
    for its variables."""

    key: str
    values: Mapping[str, str | int | float]

    @classmethod
    def of(cls, key: str, /, **values: str | int | float) -> ShownAs:
        return cls(key, values)


class InterludeError(Exception):
    """What is wrong, in one sentence, and what to do about it, in another.

    `exit_code` follows sysexits(3), so that scripts and systemd can tell the kinds apart. `aloud`:
    the key of what the box says of it (language/catalogue.py), if there is a sentence for that.
    `shown`: what the page says of it, likewise. `general`: of the kind, for an error without one.
    """

    exit_code = 70  # EX_SOFTWARE
    general = "page-wrong-general"

    def __init__(
        self, problem: str, remedy: str = "", aloud: str = "", *, shown: ShownAs | None = None
    ) -> None:
        super().__init__(problem if not remedy else f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy
        self.aloud = aloud
        self.shown = shown

    @property
    def on_page(self) -> ShownAs:
        """What the page says of it in another language than English."""
        return self.shown or ShownAs.of(self.general)


class SettingsError(InterludeError, ValueError):
    """A settings file that cannot be used."""

    exit_code = 78  # EX_CONFIG
    general = "page-wrong-general-settings"


class CatalogueError(InterludeError, ValueError):
    """A file of the box's sentences that cannot be used."""

    exit_code = 65  # EX_DATAERR


class SceneError(InterludeError, ValueError):
    """A rehearsal scene that cannot be played."""

    exit_code = 65  # EX_DATAERR


class RecordingError(InterludeError, ValueError):
    """A recording, or a folder of them, that cannot be used."""

    exit_code = 66  # EX_NOINPUT


class CardError(InterludeError, OSError):
    """A sound card that is missing, busy or cannot do what is asked of it."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-card"


class ModelError(InterludeError, ValueError):
    """A model file that is missing, damaged or of the wrong kind."""

    exit_code = 66  # EX_NOINPUT
    general = "page-wrong-general-model"


class FetchError(InterludeError, OSError):
    """A download that failed or whose bytes are not the ones that were promised."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-fetch"


class ModelBusy(FetchError):
    """Another process is fetching, copying or removing that model: nothing is wrong with it."""


class VoiceError(InterludeError, RuntimeError):
    """A sentence that could not be spoken."""

    general = "page-wrong-general-voice"


class UnsayableText(VoiceError):
    """A sentence that this voice has no sounds for, but for its first `said` characters; the voice
    is well. `foreseen`: sentences of this kind are not meant for it. `rest_of_answer`: nor is it
    asked for what follows in the answer."""

    def __init__(
        self, problem: str, remedy: str = "", *, aloud: str = "", said: int = 0,
        foreseen: bool = False, rest_of_answer: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(problem, remedy, aloud=aloud)
        self.said = said
        self.foreseen = foreseen
        self.rest_of_answer = rest_of_answer


class RemoteError(InterludeError, OSError):
    """A remote model server that is away or answers with an error."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-server"


class LinkError(InterludeError, OSError):
    """A broker that cannot be reached or refuses us, or what is needed to reach it."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-broker"


class PageError(InterludeError, OSError):
    """A certificate of the page that cannot be used, or what belongs to it."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-certificate"


class BluetoothError(InterludeError, OSError):
    """A machine without Bluetooth, or a BlueZ that refuses what it is asked."""

    exit_code = 69  # EX_UNAVAILABLE


class PanelError(InterludeError, OSError):
    """Pins of the panel that cannot be had, or a keyboard panel that is not there."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-panel"


class PanelBusy(PanelError):
    """Pins of the panel that another process has."""


class ControlError(InterludeError, OSError):
    """A box that cannot be told anything from a shell, or is not there."""

    exit_code = 69  # EX_UNAVAILABLE


class AlreadyRunning(InterludeError, RuntimeError):
    """Another box keeps its state where this one would."""

    exit_code = 69  # EX_UNAVAILABLE


class NotRunning(ControlError):
    """There is no box to tell anything."""


class NotAllowed(InterludeError, PermissionError):
    """A command that this user may not give, or a file that the box's own user cannot read."""

    exit_code = 77  # EX_NOPERM
    general = "page-wrong-general-not-allowed"


class BackupRefused(InterludeError, ValueError):
    """An archive that is no backup of ours, is damaged, or of another version."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-backup"


class BadMessage(InterludeError, ValueError):
    """Bytes on a channel that are no message, or a message of an unknown kind."""


class RingError(InterludeError, RuntimeError):
    """Shared memory that is not the ring it was announced to be."""


class StorageError(InterludeError, OSError):
    """A disk that is full, read-only or not ours to write."""

    exit_code = 74  # EX_IOERR
    general = "page-wrong-general-storage"


class ReleaseRefused(InterludeError, ValueError):
    """A release that is not for this box: unsigned, damaged, older, made for another machine."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-release"


class SeedRefused(InterludeError, ValueError):
    """What a new card, or the page of a box in set-up, says of its box and cannot be used."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-typed"


class InstallDeferred(InterludeError, RuntimeError):
    """A release that could be installed later: somebody talks with the box, or installs one."""

    exit_code = 75  # EX_TEMPFAIL
    general = "page-wrong-general-later"


class HealthCheckFailed(InterludeError, RuntimeError):
    """A release that was tried and did not prove well."""

    exit_code = 70  # EX_SOFTWARE
    general = "page-wrong-general-unwell"
