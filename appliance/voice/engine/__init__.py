"""Programs of voices, installed from signed bundles beside the releases (docs/voices.md)."""
