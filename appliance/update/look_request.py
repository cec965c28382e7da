"""A request of the page that the box looks for a newer version now.

Root takes it (cli/requested_look.py) and starts who may look: the fetch of the fleet's release, or
the import from a stick, both as a user without rights.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.update.release.look_record import LookSource

REQUEST = "look"  # its name in runtime/handed_request.py, and its unit's


class LookRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id`: of this request, made up by who asks."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
    source: LookSource
