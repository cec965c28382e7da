"""The network section of `interlude check`: network, name and addresses, or why there is none.

In: NetworkManager, avahi, and the status file of the set-up (runtime/network_status.py).
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator

from appliance.errors import StorageError
from appliance.provision.network_manager import ADDRESS, JoinedNetwork, NmcliNetworks
from appliance.runtime import mdns
from appliance.runtime.diagnostics import Finding, ok, warning
from appliance.runtime.network_status import NetworkStatus, read_status

JOIN = (
    f"Join the Wi-Fi `{{}}` with a phone, with the password that the box says, and open "
    f"http://{ADDRESS}."
)
AT_THE_CARD = (
    "Switch the box off, put the card into a computer, and mend it on the drive BOOTCONFIG "
    "(docs/flash.md)."
)
BESIDE_A_CABLE = (
    "It matters once the cable is pulled out: put an interlude.yaml with the right `wifi:` on the "
    "card, or move the box."
)
WAYS = (
    "Plug in a network cable, write the Wi-Fi into interlude.yaml on the card, or hold the button "
    "at power-on for 5 seconds: the box opens a Wi-Fi of its own then."
)


def network_findings(
    network: NetworkStatus | None = None, radio: NmcliNetworks | None = None
) -> Iterator[Finding]:
    """The findings of the network; none if NetworkManager is not installed or not running."""
    radio = radio or NmcliNetworks()
    if shutil.which(radio.nmcli) is None:
        return
    try:
        joined, addresses = radio.joined(), radio.addresses()
        ssid = radio.ssid(joined.connection) if joined and joined.kind == "wifi" else ""
        unused = radio.left_out() if joined and joined.kind == "ethernet" else ""
        in_reach = bool(unused) and unused in radio.names()
    except StorageError:  # it is installed, and does not run
        return
    network = read_status() if network is None else network
    yield from findings_for(network, joined, ssid, addresses, mdns.own_name, socket.gethostname())
    if unused:
        range_text = "in reach: is its password right?" if in_reach else "not among those in reach."
        unused_text = f"The box is not in the Wi-Fi {unused} that was set up. It is {range_text}"
        problem = network.wifi if unused in network.wifi else unused_text
        yield warning("Wi-Fi", problem, BESIDE_A_CABLE)
    if network.card:
        yield warning("SD card", network.card, AT_THE_CARD)


def findings_for(
    network: NetworkStatus,
    joined: JoinedNetwork | None,
    ssid: str,
    addresses: list[str],
    own_name: Callable[[list[str]], str],
    host: str,
) -> Iterator[Finding]:
    """The findings of the connection. `ssid`: of the Wi-Fi to which the box is connected, or ""."""
    if joined is None:
        problem = network.problem or "The box is in no network."
        remedy = JOIN.format(network.setup) if network.setup else WAYS
        yield warning("network", problem, remedy)
        return
    way = f"the Wi-Fi {ssid}" if ssid else "a cable"
    name = own_name(addresses)
    where = f"In the network by {way}, as {' or '.join([*filter(None, [name]), *addresses])}."
    if name and name != f"{host}.local":
        yield warning(
            "network",
            f"{where} Another machine there is called {host}.local.",
            "Give the box a name of its own: `hostname:` in interlude.yaml, or on its set-up page.",
        )
    elif network.setup and joined.kind == "ethernet":
        yield warning(
            "network", f"{where} The box has not been set up yet.", JOIN.format(network.setup)
        )
    else:
        yield ok("network", where)
