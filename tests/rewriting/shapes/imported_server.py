# expect: edit_document ported
"""The server is in another file."""

from app import mcp_app
from fastmcp import Context


@mcp_app.tool(description="Edit a document")
async def edit_document(file_path: str, old: str, new: str, ctx: Context) -> str:
    response = await ctx.elicit(
        message=(f"Allow edit to '{file_path}'?\n\nReplace:\n{old!r}\n\nWith:\n{new!r}"),
        response_type=None,
    )
    if response.action != "accept":
        return "Edit denied by user."
    return f"Edited {file_path}"
