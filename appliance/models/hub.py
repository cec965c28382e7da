"""The model hub: describes files and reads them from any offset. The only import of its library.

huggingface_hub handles addresses, redirects, tokens and checksums. Its own download (2.x) discards
an interrupted transfer, so this module requests the bytes itself, with the library's session.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
from huggingface_hub import constants, get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # documented, not in __all__
    build_hf_headers,
    hf_raise_for_status,
)

from appliance.errors import FetchError

TIMEOUT_S = 20.0  # without a byte; then the connection counts as broken
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LOGIN = "Accept its terms on the hub and set HF_TOKEN."


class ConnectionCut(Exception):
    """The connection broke or the server failed; a retry may help."""


class UnusableOffset(Exception):
    """The server cannot resume at that offset; the local bytes are not the start of its file."""


@dataclass(frozen=True)
class HubFile:
    """A file on the hub at one revision. `sha256` is None for small files stored in git."""

    address: str
    revision: str
    size: int
    sha256: str | None


class ModelHub:
    """Client of one hub. `endpoint` None: HF_ENDPOINT, or the library's default."""

    def __init__(self, endpoint: str | None = None) -> None:
        self.endpoint = endpoint

    @property
    def where(self) -> str:
        return self.endpoint or constants.ENDPOINT

    def describe(self, repository: str, path: str, revision: str | None) -> HubFile:
        """Request the metadata of a file. Raises FetchError, or ConnectionCut."""
        address = hf_hub_url(repository, path, revision=revision, endpoint=self.endpoint)
        with self._errors(repository, path):
            meta = get_hf_file_metadata(address, timeout=TIMEOUT_S, endpoint=self.endpoint)
        if meta.commit_hash is None or meta.size is None:
            raise FetchError(
                f"{self.where} does not answer like a model hub.", "Is HF_ENDPOINT set correctly?"
            )
        sha256 = meta.etag if meta.etag and _SHA256.fullmatch(meta.etag) else None
        pinned = hf_hub_url(repository, path, revision=meta.commit_hash, endpoint=self.endpoint)
        return HubFile(pinned, meta.commit_hash, meta.size, sha256)

    @contextlib.contextmanager
    def bytes_from(self, remote: HubFile, offset: int) -> Iterator[tuple[int, Iterator[bytes]]]:
        """Yield the offset at which the bytes really start, and the bytes. The offset is 0 if the
        server cannot resume.

        Raises FetchError or ConnectionCut, also while the bytes are iterated, and UnusableOffset.
        """
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with (
            self._errors("the repository", remote.address),
            get_session().stream(
                "GET", remote.address, headers=headers, timeout=TIMEOUT_S
            ) as response,
        ):
            if response.status_code == 416:
                raise UnusableOffset  # the range starts after the end of the file
            # Without its body, which the library would read in full for the error's message.
            hf_raise_for_status(
                httpx2.Response(
                    response.status_code, headers=response.headers, request=response.request
                )
            )
            resumed = response.status_code == 206
            if resumed and not _starts_at(response.headers.get("Content-Range", ""), offset):
                raise UnusableOffset
            yield (offset if resumed else 0), response.iter_raw()

    @contextlib.contextmanager
    def _errors(self, repository: str, path: str) -> Iterator[None]:
        """Translate the library's errors to ours."""
        try:
            yield
        except GatedRepoError as error:
            raise FetchError(
                f"{repository} requires that its terms are accepted.", _LOGIN
            ) from error
        except RepositoryNotFoundError as error:
            raise FetchError(
                f"{self.where} has no repository {repository} for us.", _LOGIN
            ) from error
        except (RemoteEntryNotFoundError, RevisionNotFoundError) as error:
            raise FetchError(
                f"{self.where} does not have {path} of {repository} (any more).",
                "A newer Interlude may know its new place.",
            ) from error
        except OfflineModeIsEnabled as error:
            raise FetchError("Downloads are switched off.", "Unset HF_HUB_OFFLINE.") from error
        except HfHubHTTPError as error:
            status = error.response.status_code
            if status in (408, 429) or status >= 500:
                raise ConnectionCut(f"the server answered {status}") from error
            remedy = _LOGIN if status in (401, 403) else ""
            raise FetchError(f"{self.where} answered {status} to {path}.", remedy) from error
        except httpx2.TimeoutException as error:
            raise ConnectionCut(f"no byte came for {TIMEOUT_S:.0f} s") from error
        except httpx2.TransportError as error:
            raise ConnectionCut(str(error) or type(error).__name__) from error
        except httpx2.HTTPError as error:
            raise FetchError(f"{self.where} cannot be asked ({error}).") from error


def _starts_at(content_range: str, offset: int) -> bool:
    found = re.match(r"bytes (\d+)-", content_range)
    return found is not None and int(found[1]) == offset
