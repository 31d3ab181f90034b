"""`mrtr-tools keygen`."""

from __future__ import annotations

import sys

from mrtr_tools.keys import VARIABLE, generate_key

__all__ = ["keygen"]


def keygen() -> None:
    """Make a key that states are signed with.

    The key goes to stdout, how to use it to stderr.
    """
    print(generate_key())
    print(
        f"Keep it secret: put it in a file (chmod 600) for --keys-file or keys_file=, or in {VARIABLE}.\n"
        "Several keys: the current one first, older ones after it; all processes of a server share them.",
        file=sys.stderr,
    )
