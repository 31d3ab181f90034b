"""A gate: a bare `confirm` that no parameter takes. Without a yes the step does not run."""

from mrtr_tools import Toolbox, confirm, needs_input

toolbox = Toolbox("cleanup")

deleted: list[str] = []


@toolbox.tool(annotations={"destructiveHint": True})
@needs_input(sure=confirm("Delete everything in {folder}?"))
def delete_folder(folder: str) -> str:
    """Delete a folder."""
    deleted.append(folder)
    return f"{folder} is gone"
