"""Content that a step may return beside text: images, sounds, embedded resources.

    return ["Here it is:", Image(png)]

The classes of the official SDK are taken as well.
"""

from __future__ import annotations

from dataclasses import field

from mrtr_tools.records import frozen

__all__ = ["Audio", "Embedded", "Image"]


@frozen
class Image:
    """An image.

    Attributes:
        data: its bytes.
        mime_type: its format.
    """

    data: bytes = field(repr=False)
    mime_type: str = "image/png"


@frozen
class Audio:
    """A sound.

    Attributes:
        data: its bytes.
        mime_type: its format.
    """

    data: bytes = field(repr=False)
    mime_type: str = "audio/wav"


@frozen
class Embedded:
    """A resource with its content.

    Attributes:
        uri: its URI.
        content: text, or bytes.
        mime_type: its format; None for plain text, or for bytes of any kind.
    """

    uri: str
    content: str | bytes = field(repr=False)
    mime_type: str | None = None
