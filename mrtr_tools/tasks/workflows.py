"""How the workflows are named that run the legs of tasks."""

from __future__ import annotations

import secrets

__all__ = ["new_workflow", "task_of"]


def new_workflow(task: str) -> str:
    """A name that never comes again, so that what is left of another is not taken for this one."""
    return f"{task}:{secrets.token_hex(8)}"


def task_of(workflow: str) -> str:
    """The task whose legs a workflow runs."""
    return workflow.rpartition(":")[0]
