"""Questions and answers as they go over the wire, for tests that compare them."""

from collections.abc import Mapping
from typing import Any


def accept(**content: object) -> dict[str, Any]:
    """An accepted form."""
    return {"action": "accept", "content": content}


def form(message: str, required: bool = True, **properties: Mapping[str, object]) -> dict[str, Any]:
    """A question as it goes over the wire."""
    schema = {"type": "object", "properties": properties} | ({"required": list(properties)} if required else {})
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


TEXT = {"type": "string"}
YES_OR_NO = {"type": "boolean"}
DECLINE = {"action": "decline"}
CANCEL = {"action": "cancel"}
YES = accept(ok=True)
NO = accept(ok=False)
