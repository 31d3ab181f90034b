"""What a server logs, for whoever started it in a terminal."""

from __future__ import annotations

import logging

__all__ = ["show_log"]


def show_log() -> None:
    """Say on stderr what a server logs, such as which key signs, unless the file says where logs go."""
    log = logging.getLogger("mrtr_tools")
    if not log.hasHandlers():
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        log.addHandler(shown)
        log.setLevel(logging.INFO)
