"""Provisioning: the seed on a new card, the first boot, the set-up page, and Wi-Fi changes."""
