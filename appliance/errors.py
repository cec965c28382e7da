"""Every error raised on purpose: a sentence for the owner and an exit code for the shell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ShownAs(NamedTuple):
    """How the page shows an error: a key of the catalogue (language/catalogue.py), and values for
    its variables."""

    key: str
    values: Mapping[str, str | int | float]

    @classmethod
    def of(cls, key: str, /, **values: str | int | float) -> ShownAs:
        return cls(key, values)


class InterludeError(Exception):
    """One sentence of what is wrong, and one of what to do about it.

    `exit_code` follows sysexits(3), so that scripts and systemd can tell the kinds apart. `aloud`:
    the catalogue key (language/catalogue.py) of the sentence that the box speaks; "": none.
    `shown`: the sentence that the page shows; without one the page shows `general`, the catalogue
    key of the class.
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
        """The sentence that the page shows in a language other than English."""
        return self.shown or ShownAs.of(self.general)


class SettingsError(InterludeError, ValueError):
    """A settings file that cannot be used."""

    exit_code = 78  # EX_CONFIG
    general = "page-wrong-general-settings"


class CatalogueError(InterludeError, ValueError):
    """A file of the catalogue of sentences that cannot be used."""

    exit_code = 65  # EX_DATAERR


class SceneError(InterludeError, ValueError):
    """A rehearsal scene that cannot be played."""

    exit_code = 65  # EX_DATAERR


class RecordingError(InterludeError, ValueError):
    """A recording, or a folder of them, that cannot be used."""

    exit_code = 66  # EX_NOINPUT


class CardError(InterludeError, OSError):
    """A sound card that is missing, busy or cannot do what the settings ask for."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-card"


class ModelError(InterludeError, ValueError):
    """A model file that is missing, damaged or of the wrong kind."""

    exit_code = 66  # EX_NOINPUT
    general = "page-wrong-general-model"


class FetchError(InterludeError, OSError):
    """A download that failed, or whose size or checksum is not the expected one."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-fetch"


class ModelBusy(FetchError):
    """A model that another process is fetching, copying or removing; it is not damaged."""


class VoiceError(InterludeError, RuntimeError):
    """A sentence that could not be spoken."""

    general = "page-wrong-general-voice"


class UnsayableText(VoiceError):
    """A sentence that a working voice cannot pronounce, except for its first `said` characters.
    `foreseen`: the voice is not meant for sentences of this kind. `rest_of_answer`: it cannot speak
    the rest of the answer either."""

    def __init__(
        self, problem: str, remedy: str = "", *, aloud: str = "", said: int = 0,
        foreseen: bool = False, rest_of_answer: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(problem, remedy, aloud=aloud)
        self.said = said
        self.foreseen = foreseen
        self.rest_of_answer = rest_of_answer


class RemoteError(InterludeError, OSError):
    """A remote model server that does not answer, or answers with an error."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-server"


class LinkError(InterludeError, OSError):
    """A broker that cannot be reached or refuses the box, or a file for it that cannot be used."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-broker"


class PageError(InterludeError, OSError):
    """A certificate of the page, or a file that belongs to it, that cannot be used."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-certificate"


class BluetoothError(InterludeError, OSError):
    """A machine without Bluetooth, or a BlueZ that refuses a request."""

    exit_code = 69  # EX_UNAVAILABLE


class PanelError(InterludeError, OSError):
    """Pins of the panel that cannot be opened, or a keyboard panel that is not running."""

    exit_code = 69  # EX_UNAVAILABLE
    general = "page-wrong-general-panel"


class PanelBusy(PanelError):
    """Pins of the panel that another process has open."""


class ControlError(InterludeError, OSError):
    """A box whose control socket cannot be used, or is not there."""

    exit_code = 69  # EX_UNAVAILABLE


class AlreadyRunning(InterludeError, RuntimeError):
    """Another running box uses the same folder for its state."""

    exit_code = 69  # EX_UNAVAILABLE


class NotRunning(ControlError):
    """No running box receives the command."""


class NotAllowed(InterludeError, PermissionError):
    """A command that this user may not run, or a file that the box's own user cannot read."""

    exit_code = 77  # EX_NOPERM
    general = "page-wrong-general-not-allowed"


class BackupRefused(InterludeError, ValueError):
    """An archive that is not a backup of this software, is damaged, or has another version."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-backup"


class BadMessage(InterludeError, ValueError):
    """Bytes on a channel that are not a message of a known kind."""


class RingError(InterludeError, RuntimeError):
    """A ring of another layout than expected, or a slot that does not fit into it."""


class StorageError(InterludeError, OSError):
    """A disk that is full or read-only, or a file that this process may not write."""

    exit_code = 74  # EX_IOERR
    general = "page-wrong-general-storage"


class ReleaseRefused(InterludeError, ValueError):
    """A release that this box refuses: unsigned, damaged, older, or made for another machine."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-release"


class SeedRefused(InterludeError, ValueError):
    """A value in the seed of a new card, or typed on the set-up page, that cannot be used."""

    exit_code = 65  # EX_DATAERR
    general = "page-wrong-general-typed"


class InstallDeferred(InterludeError, RuntimeError):
    """A release that can be installed later: a conversation or an installation is under way."""

    exit_code = 75  # EX_TEMPFAIL
    general = "page-wrong-general-later"


class HealthCheckFailed(InterludeError, RuntimeError):
    """A release that failed its health check."""

    exit_code = 70  # EX_SOFTWARE
    general = "page-wrong-general-unwell"
