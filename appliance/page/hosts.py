"""Checks of the Host, Origin and Sec-Fetch-Site headers against DNS rebinding and cross-site
requests. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping

# Domains that cannot be registered; routers and mDNS use them for machines in the local network.
DOMAINS = ("", ".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
USUAL_PORTS = {"http": 80, "https": 443}  # browsers omit these in Host and Origin
_HOST = re.compile(r"^(\[[0-9a-f:.%]+\]|[a-z0-9.-]+?)\.?(?::(\d{1,5}))?$")


def is_own_host(
    host: str, name: str, port: int, scheme: str = "http", certified: Collection[str] = ()
) -> bool:
    """Whether a Host header names this box: by an IP address, by its host `name` in a local domain,
    or by a name of its certificate (`certified`; for a wildcard the name that begins with `name`).

    avahi names the second box with a name `name-2`. In a DNS rebinding attack the Host header has
    the attacker's domain, which is rejected.
    """
    found = _HOST.match(host.lower())
    if found is None or int(found[2] or USUAL_PORTS[scheme]) != port:
        return False
    requested = found[1].strip("[]").partition("%")[0]
    try:
        ipaddress.ip_address(requested)
        return True  # an address cannot be rebound
    except ValueError:
        pass
    first, dot, rest = requested.partition(".")
    match = re.fullmatch(rf"{re.escape(name.lower())}(-[0-9]{{1,3}})?", first)
    known = {certified_name.lower() for certified_name in certified}
    if requested == "localhost" or requested in known:
        return True
    return match is not None and (dot + rest in DOMAINS or f"*{dot}{rest}" in known)


def is_own_origin(headers: Mapping[str, str], scheme: str = "http") -> bool:
    """Whether a form was sent by a page of this box: Origin is present and matches Host.

    The scheme must match too: with https, a page loaded by plain HTTP may have been forged on the
    way.
    """
    return headers.get("origin", "").lower() == f"{scheme}://{headers.get('host', '').lower()}"


def is_own_fetch(headers: Mapping[str, str]) -> bool:
    """Whether a GET request may be answered: it was not caused by another site.

    Browsers without Fetch Metadata send no cookie with cross-site requests either (SameSite).
    """
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
