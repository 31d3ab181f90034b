"""URLs that a person is asked to open, and what may stand in them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlsplit

from mrtr_tools.choices import FormError
from mrtr_tools.templates import MAX_SHOWN, Template, TemplateError

__all__ = ["checked_url", "quoted", "url_template"]

_HOST_AND_MORE: Final = re.compile(r"https?://[^/?#{}\\]+[/?#]")


def url_template(text: str) -> Template:
    """A URL with places to fill, each behind its host, where a value cannot name another host.

    Raises:
        TemplateError: it is no template, or fills a place before that.
    """
    template = Template(text, quoted)
    if template.fields and not _HOST_AND_MORE.match(text.partition("{")[0]):
        raise TemplateError("a URL is filled in behind its host only: https://login.example/{ctx.handle}")
    return template


def quoted(text: str) -> str:
    """A value as one part of a URL.

    Raises:
        ValueError: it is a dot segment, with which a browser climbs up, or nothing, or very long.
    """
    if text in ("", ".", "..") or len(text) > MAX_SHOWN:
        raise ValueError("a URL cannot be filled with nothing, with dots alone, or with more than 200 characters")
    return quote(text, safe="")


def checked_url(url: str) -> str:
    """A URL that may be opened: https, or http on this machine; with a host, and no user.

    Raises:
        FormError: it is another one.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise FormError("its URL is none") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and host in ("localhost", "127.0.0.1", "::1")):
        raise FormError("its URL must be https, or http on this machine")
    if not host or "@" in parts.netloc or not url.isascii() or not url.isprintable() or set(url) & set(' \\"<>^`'):
        raise FormError(
            "its URL must name a host and no user, and be written in plain characters (percent-encode others)"
        )
    return url
