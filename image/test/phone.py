"""A phone in the machine of air.py, in its own network namespace with one radio.

    python3 -m image.test.phone SSID PASSWORD

It joins the Wi-Fi, requests an address as phones do (DHCP, with option 114), resolves a phone
maker's probe address, is redirected to the set-up page, and posts the router's right password
there. Out: JSON.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

RADIO = "wlan2"
LIMIT_S = 120.0
HARDWARE = Path(f"/sys/class/net/{RADIO}/address")
ASKED = (1, 3, 6, 114)


def join(ssid: str, password: str) -> None:
    Path("/run/phone.conf").write_text(
        "ctrl_interface=/run/phone\n"
        f'network={{\n ssid="{ssid}"\n psk="{password}"\n scan_ssid=1\n}}\n'
    )
    subprocess.run(["ip", "link", "set", RADIO, "up"], check=True)
    subprocess.run(["wpa_supplicant", "-B", "-i", RADIO, "-c", "/run/phone.conf"], check=True,
                   stdout=sys.stderr)  # fmt: skip
    limit_s = time.monotonic() + LIMIT_S
    status = ["wpa_cli", "-p", "/run/phone", "-i", RADIO, "status"]
    while "wpa_state=COMPLETED" not in subprocess.run(status, capture_output=True, text=True,
                                                      check=False).stdout:  # fmt: skip
        if time.monotonic() > limit_s:
            raise SystemExit("the Wi-Fi does not let the phone in")
        time.sleep(0.5)


def offered(hardware: bytes) -> dict[str, str]:
    """A DHCP server's offer (RFC 2131): an address, and the options that were requested."""
    head = struct.pack(">BBBBIHH16x", 1, 1, 6, 0, 0x1A2B3C4D, 0, 0x8000)  # 0x8000: broadcast flag
    asks = bytes([53, 1, 1, 55, len(ASKED), *ASKED, 255])
    discover = head + hardware.ljust(208, b"\0") + b"\x63\x82\x53\x63" + asks
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, RADIO.encode())
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        wire.bind(("", 68))
        wire.settimeout(3)
        limit_s = time.monotonic() + LIMIT_S
        while time.monotonic() < limit_s:
            wire.sendto(discover, ("255.255.255.255", 67))
            try:
                data = wire.recv(2048)
            except TimeoutError:
                continue
            return {"address": socket.inet_ntoa(data[16:20]), **options(data[240:])}
    raise SystemExit("nobody offers an address")


def options(data: bytes) -> dict[str, str]:
    found, at = {}, 0
    while at < len(data) and data[at] != 255:
        kind, length = data[at], data[at + 1]
        value = data[at + 2 : at + 2 + length]
        found[str(kind)] = value.decode("ascii") if kind == 114 else value.hex()
        at += 2 + length
    return found


def resolved(name: str, server: str) -> str:
    question = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    asked = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + question + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.settimeout(10)
        wire.sendto(asked, (server, 53))
        answer = wire.recv(512)
    return socket.inet_ntoa(answer[-4:]) if struct.unpack(">H", answer[6:8])[0] else ""


def ask(host: str, path: str, address: str, body: str = "") -> http.client.HTTPResponse:
    line = http.client.HTTPConnection(address, 80, timeout=30)
    head = {"Host": host}
    if body:
        head |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{host}"}
    line.request("POST" if body else "GET", path, body or None, head)
    return line.getresponse()


def main(ssid: str, password: str) -> None:
    join(ssid, password)
    offer = offered(bytes.fromhex(HARDWARE.read_text().strip().replace(":", "")))
    subprocess.run(["ip", "addr", "add", f"{offer['address']}/24", "dev", RADIO], check=True)
    server = socket.inet_ntoa(bytes.fromhex(offer["6"]))
    world = resolved("captive.apple.com", server)
    probe = ask("captive.apple.com", "/hotspot-detect.html", world)
    shown = ask("10.42.0.1", "/", world).read().decode()
    token = re.search(r'name="token" value="([^"]+)"', shown)
    typed = {"token": token[1] if token else "", "wifi": "Home", "password": "correct horse"}
    sent = ask("10.42.0.1", "/", world, urlencode(typed))
    problem = re.search(r'class="bad">([^<]*)', shown)
    found = {"offer": offer, "world": world, "probe": [probe.status, probe.headers["Location"]],
             "page": problem[1] if problem else "", "sent": sent.status}  # fmt: skip
    print(json.dumps(found))


main(sys.argv[1], sys.argv[2])
