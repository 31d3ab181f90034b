"""MCP tools that ask before they can finish: plain step functions, a resumable state machine, a signed state."""

from mrtr_tools.context import Context
from mrtr_tools.errors import DefinitionError, ToolError
from mrtr_tools.input_requests import Elicit, ElicitUrl, ListRoots, Root, Sample, Sampled, confirm
from mrtr_tools.marks import AskAgain, Refused, needs_input, then
from mrtr_tools.templates import shown
from mrtr_tools.tools import Toolbox

__all__ = [
    "AskAgain",
    "Context",
    "DefinitionError",
    "Elicit",
    "ElicitUrl",
    "ListRoots",
    "Refused",
    "Root",
    "Sample",
    "Sampled",
    "ToolError",
    "Toolbox",
    "confirm",
    "needs_input",
    "shown",
    "then",
]
