"""What the suite's tools and prompts are made of: texts, one picture, one sound, one resource."""

import base64
import io
import struct
import wave
import zlib
from typing import Any

Content = dict[str, Any]


def text(value: str) -> Content:
    return {"type": "text", "text": value}


def image() -> Content:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def audio() -> Content:
    return {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}


def resource(uri: str, mime_type: str, value: str) -> Content:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": value}}


def _png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _wav() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(16))
    return buffer.getvalue()


PIXEL = base64.b64encode(_png()).decode()
SILENCE = base64.b64encode(_wav()).decode()
