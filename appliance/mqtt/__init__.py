"""The MQTT client: the box as a device of Home Assistant, through the owner's broker."""
