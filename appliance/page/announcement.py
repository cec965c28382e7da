"""The page's service file for avahi (avahi.service(5)), with its port and protocol. Pure.

Service browsers and Home Assistant find the page by it. It contains no text of the owner.
"""

from __future__ import annotations

import ipaddress

from appliance.page.hosts import USUAL_PORTS
from appliance.settings import PageSettings

_FILE = """<?xml version="1.0" standalone="no"?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<!-- Written by interlude-mdns.service from the settings, page.port and the like (docs/page.md). -->
<service-group>
  <name replace-wildcards="yes">Interlude on %h</name>
  <service>
    <type>_{scheme}._tcp</type>
    <port>{port}</port>
    <txt-record>path=/</txt-record>
  </service>
  <service>
    <type>_interlude._tcp</type>
    <port>{port}</port>
    <txt-record>scheme={scheme}</txt-record>
  </service>
</service-group>
"""


def address_of(page: PageSettings) -> str:
    """The page's URL, with `{}` for the host name; "" if no other machine can reach the page."""
    host, port = page.address
    if not page.wanted or ipaddress.ip_address(host).is_loopback:
        return ""
    scheme = "https" if page.certificate else "http"
    return f"{scheme}://{{}}" + ("" if port == USUAL_PORTS[scheme] else f":{port}")


def announcement(page: PageSettings) -> bytes:
    """The content of avahi's file; b"" if no other machine can reach the page."""
    if not address_of(page):
        return b""
    scheme = "https" if page.certificate else "http"
    port = page.address[1]
    return _FILE.format(scheme=scheme, port=port).encode()
