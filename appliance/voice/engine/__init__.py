"""Programs of voices, installed beside the releases from bundles that are signed like these."""
