"""What avahi announces of the page (avahi.service(5)): its port, and whether it is encrypted. Pure.

Browsers of services and Home Assistant find it so. Nothing of it is a word of the owner's.
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
    """The page's address, with `{}` for the box's name; "" where no other machine can reach one."""
    host, port = page.address
    if not page.wanted or ipaddress.ip_address(host).is_loopback:
        return ""
    scheme = "https" if page.certificate else "http"
    return f"{scheme}://{{}}" + ("" if port == USUAL_PORTS[scheme] else f":{port}")


def announcement(page: PageSettings) -> bytes:
    """avahi's file for these settings; b"" where no other machine can reach a page."""
    if not address_of(page):
        return b""
    scheme = "https" if page.certificate else "http"
    port = page.address[1]
    return _FILE.format(scheme=scheme, port=port).encode()
