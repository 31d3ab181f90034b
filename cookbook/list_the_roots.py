"""Ask the client which folders it has opened to the server, and look there and nowhere else.

    mrtr-tools call cookbook/list_the_roots.py find_notes word=milk

What the client names is a wish of its user, no right: it is for a server on the same machine, which reads with its own
rights. Links that lead out of a root are not followed here. Nobody can send a refusal of this question; that a client
has no roots to tell is `Refused`, as in the terminal. The protocol calls roots deprecated since 2026-07-28; a folder as
an argument of the tool does without.
"""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mrtr_tools import ListRoots, Refused, Root, Toolbox, ToolError, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("notes")


@toolbox.tool
@needs_input(roots=ListRoots())
def find_notes(word: str, roots: list[Root] | Refused) -> list[str]:
    """Find the text files that hold a word, in the folders that are open in the client."""
    if isinstance(roots, Refused):
        raise ToolError("This client does not say which folders are open.")
    notes = [path for root in roots for path in notes_in(folder_of(root))]
    return [str(path) for path in notes if word in path.read_text("utf-8", "replace")]


def folder_of(root: Root) -> Path:
    return Path(url2pathname(urlsplit(root.uri).path)).resolve()


def notes_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.txt")) if path.resolve().is_relative_to(folder) and path.is_file()]


if __name__ == "__main__":
    run_stdio(toolbox)
