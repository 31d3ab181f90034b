"""Send a person to a web page, for what must not pass through the client, and go on when the page has done its work.

    mrtr-tools call cookbook/open_a_page.py pay_invoice number=7

Accepting means that the person agrees to open the page; nobody tells the server what happens there. So the step looks:
it waits a little, less than clients wait for an answer, and then asks again. `{ctx.handle}` names the call to the page.

A link can be sent on: whoever is talked into opening it would pay in somebody else's call. So the page signs its
visitor in, and does nothing for anybody but the one who made the call. That is why such a tool is served over HTTP only
where callers are authenticated (`attach`, to a server with `auth=`); over stdio the one caller is who started the
server. And opening the page changes nothing: only the button does, for programs open links as well.
"""

import functools
import getpass
import html
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import anyio

from mrtr_tools import AskAgain, Context, ElicitUrl, Toolbox, needs_input, then
from mrtr_tools.server import run_stdio

WAIT = 20  # seconds
toolbox = Toolbox("invoices")
payers: dict[str, str] = {}  # with `paid`, stands for a table that servers and page share
paid: set[str] = set()


@toolbox.tool
def pay_invoice(number: int, ctx: Context) -> str:
    """Pay an invoice, on a page of its own."""
    serve_pages()
    # what the identity provider of both the server and the page calls them: a principal ends with it
    payers[ctx.handle] = json.loads(ctx.principal)[-1] if ctx.principal else getpass.getuser()
    return then(receipt, number=number)


@toolbox.step
@needs_input(page=ElicitUrl("Pay invoice {number} on this page", "http://127.0.0.1:8123/{ctx.handle}"))
async def receipt(number: int, ctx: Context) -> str:
    with anyio.move_on_after(WAIT):
        while ctx.handle not in paid:  # noqa: ASYNC110  the page may be another process
            await anyio.sleep(0.2)
        return f"Invoice {number} is paid."
    raise AskAgain(page="The invoice is not paid yet.")


class Page(BaseHTTPRequestHandler):
    """Stands for your web application."""

    def do_GET(self) -> None:
        self.reply('<form method="post">Your name: <input name="visitor"> <button>Pay</button></form>')

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(min(int(self.headers["Content-Length"]), 1000)).decode())
        visitor = form.get("visitor", [""])[0]  # stands for a real sign-in, such as your identity provider's
        if visitor != payers.get(self.path.strip("/")):
            return self.reply("This link is not for you.", HTTPStatus.FORBIDDEN)
        paid.add(self.path.strip("/"))
        return self.reply(f"Thank you, {html.escape(visitor)}. You can close this page.")

    def reply(self, text: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>Invoices</title><p>{text}</p>".encode())


@functools.cache
def serve_pages() -> None:
    Thread(target=ThreadingHTTPServer(("127.0.0.1", 8123), Page).serve_forever, daemon=True).start()


if __name__ == "__main__":
    run_stdio(toolbox)
