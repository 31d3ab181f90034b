# expect: sign ported
"""Tools are put on a server that comes as an argument."""

from __future__ import annotations

from typing import Any

from fastmcp import Context, FastMCP


def register_signing_tools(mcp: FastMCP, settings: dict[str, Any]) -> None:
    """Put the tools on a server."""

    @mcp.tool(name="pdf.sign", description="Sign a document")
    async def sign(doc_id: str, ctx: Context) -> dict[str, Any]:
        answer = await ctx.elicit(f"Sign {doc_id} as {settings['name']}?", response_type=bool)
        if answer.action == "accept" and answer.data:
            return {"signed": doc_id}
        return {"signed": None, "why": answer.action}
