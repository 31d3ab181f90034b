"""Choices that are known only at run time: they are kept as they were shown, and answers are held against those."""

from typing import Annotated

from pydantic import Field

from mrtr_tools import Elicit, Toolbox, ToolError, needs_input

toolbox = Toolbox("archive")

folders: dict[str, list[str]] = {"reports": ["a.csv", "b.csv"], "empty": []}


def which(folder: str) -> Elicit:
    """Ask for some of the files that are there now."""
    if not folders[folder]:
        raise ToolError(f"There is nothing in {folder}")
    return Elicit(f"Which files of {folder}?", choices=folders[folder])


@toolbox.tool
@needs_input(files=which)
def archive(folder: str, files: Annotated[list[str], Field(min_length=1)]) -> str:
    """Put files away."""
    return f"Archived {', '.join(files)}"
