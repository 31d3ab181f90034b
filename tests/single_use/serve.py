"""Serve the till over HTTP, with the clock `AHEAD` seconds ahead."""

import os
import time

import uvicorn
from mcp.server import MCPServer

from mrtr_tools.server import attach
from mrtr_tools.state import StateSigner
from tests.single_use.till import toolbox

if __name__ == "__main__":
    ahead = float(os.environ.get("AHEAD", "0"))
    signer = StateSigner([os.environ["KEY"]], "till", ttl=24 * 3600, clock=lambda: time.time() + ahead)
    server = MCPServer("till")
    attach(toolbox, server, signer=signer, claims=os.environ["CLAIMS"], anonymous_ok=True)
    uvicorn.run(server.streamable_http_app(), port=0, access_log=False, ws="none")
