"""The request of the page to look for a newer version now.

A root process reads it (cli/requested_look.py) and starts a unit that runs as an unprivileged user:
the fetch of the fleet's release, or the import from a stick.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.update.release.look_record import LookSource

REQUEST = "look"  # the request's name in runtime/handed_request.py, and the name of its unit


class LookRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to look at `source`. `id`: a random number that the page chose."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
    source: LookSource
