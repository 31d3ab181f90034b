"""Two questions, the second only after a certain answer to the first: Azure DevOps' rules for resolving a bug.

    mrtr-tools call cookbook/update_work_item.py update_work_item workItemId=4522 'fields={"System.State": "Resolved"}'

Stacked groups are asked from top to bottom. `only_if=` takes the step's parameters by name, among them the answers of
the groups above; where it says no, the input keeps its default. `cold_answers=True` lets a client that knows the
question send the answer along with the first request.
"""

from typing import Annotated, Literal

from pydantic import Field

from mrtr_tools import Toolbox, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("work-items")

Resolution = Literal["Fixed", "Won't Fix", "Duplicate", "By Design"]


@toolbox.tool(cold_answers=True)
@needs_input(
    resolution="Resolving Bug #{work_item_id} requires a resolution. How was this bug resolved?",
    only_if=lambda fields: fields.get("System.State") == "Resolved",
)
@needs_input(
    duplicate_of="Since this is a duplicate, which work item is the original?",
    only_if=lambda resolution: resolution == "Duplicate",
)
def update_work_item(
    work_item_id: Annotated[int, Field(alias="workItemId")],
    fields: dict[str, str],
    resolution: Annotated[Resolution | None, Field(description="Resolution type for this bug")] = None,
    duplicate_of: Annotated[
        float | None, Field(alias="duplicateOfId", description="Work item ID of the original bug")
    ] = None,
) -> str:
    """Update the fields of a work item; the rules of its project may ask for more."""
    state = fields.get("System.State")
    if resolution is None:
        return f"Bug #{work_item_id} updated." + (f" State set to {state}." if state else "")
    if duplicate_of is None:
        return f"Bug #{work_item_id} resolved as {resolution}. State set to {state}."
    return (
        f"Bug #{work_item_id} resolved as {resolution} of Bug #{duplicate_of:.0f}. "
        f"State set to {state} and duplicate link created."
    )


if __name__ == "__main__":
    run_stdio(toolbox)
