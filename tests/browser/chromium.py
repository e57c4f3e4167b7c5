"""The browser: which program it is, and how it is started."""

import shutil

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--host-resolver-rules=MAP app.example.com 127.0.0.1",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
MISSING = "Chromium is missing: install Debian's package chromium-headless-shell."


def find() -> str | None:
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")
