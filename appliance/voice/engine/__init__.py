"""Programs that speak, installed beside the releases: bundles, signed like them. docs/voices.md."""
