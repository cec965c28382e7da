"""Set-up by a phone's app: Improv over Bluetooth Low Energy (improv-wifi.com/ble)."""
