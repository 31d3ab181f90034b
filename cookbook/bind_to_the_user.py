"""Know who is calling, and let nobody go on with a call that somebody else began.

    export MRTR_TOOLS_KEYS=$(mrtr-tools keygen) ISSUER_KEY=issuer.pem
    python cookbook/bind_to_the_user.py  # over HTTP, to people with a token
    mrtr-tools call cookbook/bind_to_the_user.py send_statement month=2026-07  # the toolbox alone: the caller is you

With `auth=` a server takes a bearer token with every request, and `attach` binds each state to whom it names: issuer,
client and subject. The person counts, not the token, so a call goes on with the next token when one has run out. The
state of this call carries Ada's statement from one request to the next. Whoever finds it, in a log or on a shared
machine, and sends it with a token of their own is refused in the very words that meet a forged one; only the server's
log says `principal`.

A token without a subject is refused, for all who share its client would be one person. Where machines call for nobody,
`attach(..., principal="client")` takes it, and a function of the token may name the caller in any other way; when that
raises, or names nobody, the request is refused.
"""

import functools
import getpass
import json
import os
from pathlib import Path

import jwt
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl

from mrtr_tools import Context, Toolbox, needs_input, then
from mrtr_tools.server import attach

ISSUER = "https://id.example"  # your identity provider
HERE = "http://127.0.0.1:8000/mcp"  # what its tokens for this server are made out to
toolbox = Toolbox("bank")


@toolbox.tool
def send_statement(month: str, ctx: Context) -> str:
    """Send the statement of a month by mail."""
    owner: str = json.loads(ctx.principal)[-1] if ctx.principal else getpass.getuser()
    return then(send, statement=f"{owner} has 120 EUR at the end of {month}")  # stands for a look into a table


@toolbox.step
@needs_input(address="To which address?")
def send(statement: str, address: str) -> str:
    return f"Sent to {address}: {statement}"


@functools.cache
def issuer_key() -> str:
    return Path(os.environ["ISSUER_KEY"]).read_text()


class Tokens:
    """Takes what the identity provider has signed, a JWT here."""

    async def verify_token(self, token: str) -> AccessToken | None:
        must = ["exp", "client_id"]
        try:
            said = jwt.decode(token, issuer_key(), ["EdDSA"], {"require": must}, audience=HERE, issuer=ISSUER)
        except jwt.InvalidTokenError:
            return None
        client, until, subject = said["client_id"], int(said["exp"]), said.get("sub")
        return AccessToken(token=token, client_id=client, scopes=[], expires_at=until, subject=subject, claims=said)


auth = AuthSettings(
    issuer_url=AnyHttpUrl(ISSUER),
    resource_server_url=AnyHttpUrl(HERE),
    validate_token_resource=False,  # `audience=` above has seen to it
)
server = MCPServer("bank", auth=auth, token_verifier=Tokens())

if __name__ == "__main__":
    attach(toolbox, server)
    server.run("streamable-http", port=int(os.environ.get("PORT", "8000")))
