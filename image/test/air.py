"""A virtual machine with simulated Wi-Fi (the kernel's mac80211_hwsim): Debian with NetworkManager,
wpa_supplicant, dnsmasq and avahi as on the card, our units, and a tiny release.

Three radios are in reach of each other: the box's, a router's and a phone's, the latter two in
network namespaces; on request also those of neighbours. It is not the Pi: the kernel is of this
machine's architecture, and there is no radio firmware. It tests our use of NetworkManager.
"""

from __future__ import annotations

from appliance.provision.seed import Seed, WifiNetwork
from image.test.debian_guest import SETUP_NEEDS, DebianGuest

NETWORKING = ("network-manager", "wpasupplicant", "dnsmasq-base", "iw", "wireless-regdb", "kmod")
# Kernel modules that are copied to the disk: radios, network protocols, ciphers.
MODULES = ("net", "crypto", "arch/x86/crypto", "arch/arm64/crypto", "lib",
           "drivers/net/wireless/mac80211_hwsim.ko", "drivers/net/wireless/virtual")  # fmt: skip
ENABLED = ("interlude-setup.service", "interlude-page.path", "air.service")
NEIGHBOUR = "The Wi-Fi of neighbour number %02d"  # 32 bytes, the longest allowed SSID
ROUTER, PASSWORD, WRONG = "Home", "correct horse", "wrong horse"
_SCRIPT = f"""#!/bin/sh
# The router, and the phone's radio apart: before NetworkManager takes them for the box's.
set -e
modprobe mac80211_hwsim radios=$((3 + %d))
for name in router phone; do ip netns add $name; ip netns exec $name ip link set lo up; done
iw phy phy1 set netns name router
iw phy phy2 set netns name phone
in="ip netns exec router"
$in ip addr add 192.168.77.1/24 dev wlan1
$in ip link set wlan1 up
cat >/run/router.conf <<END
network={{
 ssid="{ROUTER}"
 mode=2
 frequency=2437
 key_mgmt=WPA-PSK
 proto=RSN
 pairwise=CCMP
 psk="{PASSWORD}"
}}
END
$in wpa_supplicant -B -i wlan1 -c /run/router.conf
$in dnsmasq --conf-file=/dev/null --port=0 --interface=wlan1 --bind-interfaces --pid-file \\
  --dhcp-leasefile=/run/router.leases --dhcp-range=192.168.77.10,192.168.77.20,60m
for each in $(seq 3 $((2 + %d))); do
  iw phy phy$each set netns name router
  conf='network={{\\n ssid="{NEIGHBOUR}"\\n mode=2\\n frequency=2412\\n key_mgmt=NONE\\n}}\\n'
  printf "$conf" $each >/run/neighbour$each.conf
  systemd-run --quiet --collect --unit=neighbour$each $in \\
    wpa_supplicant -i wlan$each -c /run/neighbour$each.conf
done
"""
UNIT = """[Unit]
Before=NetworkManager.service
[Service]
Type=forking
RemainAfterExit=yes
ExecStart=/usr/lib/air
[Install]
WantedBy=multi-user.target
"""


def files(neighbours: int = 0) -> tuple[tuple[str, str, int], ...]:
    """The unit and the script that set up the radios, for DebianGuest.files."""
    script = _SCRIPT.replace("%d", str(neighbours))
    return ("usr/lib/air", script, 0o755), ("etc/systemd/system/air.service", UNIT, 0o644)


GUEST = DebianGuest(
    packages=NETWORKING,
    modules=MODULES,
    enabled=ENABLED,
    needed=SETUP_NEEDS,
    files=files(),
    programs=("owner", "phone", "hearing"),
    seed=Seed(wifi=WifiNetwork(ROUTER.encode(), WRONG)),
)
