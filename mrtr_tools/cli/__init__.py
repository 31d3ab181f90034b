"""The command line: `mrtr-tools run`, `call`, `check`, `port` and `keygen`.

It needs the extra: ``pip install "mrtr-tools[cli]"``. Importing this module does not.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Final

__all__ = ["main"]

NEEDED: Final = ("typer", "rich", "questionary")


def main() -> None:
    """Run `mrtr-tools` with the arguments of this process, and exit: 0, 1 failed, 2 wrong usage, 130 interrupted."""
    if sys.argv[1:] == ["keygen"]:  # the one that a server needs, with or without the extra
        from mrtr_tools.cli.keygen import keygen

        keygen()
        return
    if any(find_spec(name) is None for name in NEEDED):
        sys.exit('The command line is not installed. Install it with: pip install "mrtr-tools[cli]"')
    from mrtr_tools.cli.app import app
    from mrtr_tools.cli.exits import Stop
    from mrtr_tools.cli.terminal import escaped

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its code
    try:
        app(prog_name="mrtr-tools")
    except Stop as stop:
        if text := str(stop):
            plain = escaped(text)
            print(f"Error: {plain}" if stop.code else plain, file=sys.stderr)
        sys.exit(stop.code)
