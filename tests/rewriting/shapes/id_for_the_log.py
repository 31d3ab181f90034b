# expect: search_code ported
# check: MRTR105
# play: {"tool": "search_code", "arguments": {"query": "ab", "project": "p"}, "answers": {"ask": {"refined_query": "abcd"}}, "says": "abcd"}
"""An id that nobody sees; the rest is a short question under a condition."""

import uuid

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP("code")


class _Refined(BaseModel):
    refined_query: str


class SearchResult(BaseModel):
    query: str
    total: int


@server.tool(description="Search the code base.")
async def search_code(query: str, project: str, top_k: int = 10, ctx: Context = None) -> SearchResult:  # type: ignore[assignment]
    trace_id = str(uuid.uuid4())
    clean_query = query.strip()
    if len(clean_query) < 3:
        elicit_result = await ctx.elicit("Your query is too short. Please be more specific.", _Refined)
        if elicit_result.action == "accept":
            clean_query = elicit_result.data.refined_query.strip()
        else:
            return SearchResult(query=query, total=0)
    await ctx.info(f"searching trace_id={trace_id}")
    await ctx.report_progress(progress=0, total=2, message="searching")
    return SearchResult(query=clean_query, total=top_k)


if __name__ == "__main__":
    server.run()
