"""The manifest: the YAML file of docs/manifest.md, read and written."""
