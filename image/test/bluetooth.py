"""The machine of air.py with Bluetooth: Debian's BlueZ and two virtual controllers in reach of each
other (the kernel's hci_vhci, and btvirt of BlueZ's test tools).

The guest has the card's Debian suite, whatever this machine's is, so bluetoothd is the card's
version and runs with the card's drop-in. The box uses the first controller, the phone the second;
both are managed by one bluetoothd, since a machine can have only one. It is not the Pi: no radio
and no radio firmware.
"""

from __future__ import annotations

from image.plan import SUITE
from image.test import air
from image.test.debian_guest import SETUP_NEEDS, DebianGuest

BLUEZ = ("bluez", "bluez-test-tools")
NEIGHBOURS = 8  # more than fit into one result with their names
# D-Bus, and what the phone imports: Home Assistant's client with its dependencies.
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
# Set-up starts late, but early enough for a first look in the ten minutes after power-on. Until
# then the guest only sleeps, which takes no time of this machine.
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
    # As the role `system` configures a card: bluetoothd runs only during set-up.
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
