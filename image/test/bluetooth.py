"""The machine of air.py with Bluetooth as well: Debian's BlueZ, and two virtual controllers within
reach of each other (the kernel's hci_vhci, and btvirt of BlueZ's own test tools).

The card's Debian, whatever this machine's is: bluetoothd is the one that the card has, run by the
card's drop-in. The box takes the first controller, the phone has the second; both are behind the
one bluetoothd that a machine can have. Not the Pi: no radio, and no firmware of one.
"""

from __future__ import annotations

from image.plan import SUITE
from image.test import air
from image.test.debian_guest import SETUP_NEEDS, DebianGuest

BLUEZ = ("bluez", "bluez-test-tools")
NEIGHBOURS = 8  # more than the names of which fit into one result
# D-Bus, and what the phone imports: Home Assistant's client with all that stands below it.
NEEDED = (*SETUP_NEEDS, "dbus_fast", "improv_ble_client", "bleak", "bleak_retry_connector",
          "bluetooth_adapters", "aiooui", "uart_devices", "usb_devices")  # fmt: skip
CONTROLLERS_UNIT = """[Unit]
Before=bluetooth.service
[Service]
ExecStartPre=/usr/sbin/modprobe hci_vhci
ExecStart=/usr/bin/btvirt -L -l2
[Install]
WantedBy=multi-user.target
"""
# Set-up begins as late as leaves room for a first look in the ten minutes after power-on: what runs
# meanwhile takes this machine's time, and what sleeps takes none.
LATE_CONF = """[Service]
TimeoutStartSec=infinity
ExecStartPre=/bin/sh -c 'until [ "$(cut -d. -f1 /proc/uptime)" -ge 400 ]; do sleep 5; done'
"""
GUEST = DebianGuest(
    packages=(*air.NETWORKING, *BLUEZ),
    modules=(*air.MODULES, "drivers/bluetooth/hci_vhci.ko"),
    enabled=(*air.ENABLED, "interlude-improv.path", "controllers.service"),
    needed=NEEDED,
    files=(
        *air.files(NEIGHBOURS),
        ("etc/systemd/system/controllers.service", CONTROLLERS_UNIT, 0o644),
        ("etc/systemd/system/air.service.d/late.conf", LATE_CONF, 0o644),
    ),
    # As the role `system` leaves it on a card: bluetoothd is there for set-up, and off else.
    disabled=("bluetooth.service",),
    links=(
        (
            "usr/lib/systemd/system/bluetooth.service.d/50-interlude.conf",
            "/usr/lib/interlude/bluetooth.conf",
        ),
    ),
    programs=("improv_owner", "hearing"),
    suite=SUITE,
)
