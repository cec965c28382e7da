"""Under which names the page may be asked for, and from where: against DNS rebinding and forms of
other sites. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping

# Domains that nobody can own in the world, as routers and mDNS give them to machines of a house.
DOMAINS = ("", ".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
USUAL_PORTS = {"http": 80, "https": 443}  # which browsers leave out of Host and Origin
_HOST = re.compile(r"^(\[[0-9a-f:.%]+\]|[a-z0-9.-]+?)\.?(?::(\d{1,5}))?$")


def is_own_host(
    host: str, name: str, port: int, scheme: str = "http", certified: Collection[str] = ()
) -> bool:
    """Whether a Host header names this box: by an address, by its `name` in the house, or by one of
    those that its certificate is for (`certified`; of a wildcard the one that begins with `name`).

    avahi names the second box of a name `name-2`. A page of another site whose name an attacker
    has pointed to the box's address comes with that site's name, and is refused.
    """
    found = _HOST.match(host.lower())
    if found is None or int(found[2] or USUAL_PORTS[scheme]) != port:
        return False
    said = found[1].strip("[]").partition("%")[0]
    try:
        ipaddress.ip_address(said)
        return True  # an address cannot be rebound
    except ValueError:
        pass
    first, dot, rest = said.partition(".")
    own = re.fullmatch(rf"{re.escape(name.lower())}(-[0-9]{{1,3}})?", first)
    known = {each.lower() for each in certified}
    if said == "localhost" or said in known:
        return True
    return own is not None and (dot + rest in DOMAINS or f"*{dot}{rest}" in known)


def is_own_origin(headers: Mapping[str, str], scheme: str = "http") -> bool:
    """Whether a form was sent by a page of this box: Origin is there, and is the Host asked for.

    With https, a page that came without it is another's: anybody on the way may have written it.
    """
    return headers.get("origin", "").lower() == f"{scheme}://{headers.get('host', '').lower()}"


def is_own_fetch(headers: Mapping[str, str]) -> bool:
    """Whether a request that reads may be answered: no other site has made the browser ask.

    Browsers that do not say so (Fetch Metadata) send no cookie from there either (SameSite).
    """
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
