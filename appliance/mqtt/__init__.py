"""The house: an MQTT broker, and Home Assistant through it."""
