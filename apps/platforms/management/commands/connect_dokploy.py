"""Connects an organization to Dokploy."""

from apps.platforms.management.connect import ConnectCommand


class Command(ConnectCommand):
    help = "Connects an organization to Dokploy (docs/dokploy.md): checks the key, stores it encrypted, and syncs."
    kind = "dokploy"
    key_option = "--api-key-file"
    key_help = "a file with the API key, or - for standard input"
