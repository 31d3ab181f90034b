"""Add tools that ask to a server of the official SDK, beside the tools that it has.

    MRTR_TOOLS_KEYS=$(mrtr-tools keygen) python cookbook/add_to_your_server.py
    mrtr-tools call cookbook/add_to_your_server.py borrow_book title=Dune  # the toolbox alone

One line, `attach`, after all else is in place. Clients see one server; its own tools, prompts, resources, middlewares
and authentication stay as they are, and its lifespan's object reaches steps as `ctx.lifespan`. Both kinds of client are
served: those of 2026-07-28 over requests that stand alone, older ones in the middle of a call. Keys come from `keys=`
or the environment, the same for all processes of the server, so that each can go on with what another has begun.
"""

from mcp.server import MCPServer

from mrtr_tools import Toolbox, ToolError, confirm, needs_input
from mrtr_tools.server import attach

books = {"Dune", "Emma"}

# Your server, as it was

server = MCPServer("library")


@server.tool()
def list_books() -> list[str]:
    """The books that are here."""
    return sorted(books)


# What comes to it

toolbox = Toolbox("library-desk")


@toolbox.tool
@needs_input(ok=confirm("Borrow {title} for four weeks?"))
def borrow_book(title: str) -> str:
    """Borrow a book."""
    if title not in books:
        raise ToolError(f"{title} is not here.")
    books.remove(title)
    return f"{title} is yours for four weeks."


if __name__ == "__main__":
    attach(toolbox, server)
    server.run()
