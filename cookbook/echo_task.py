"""A task that asks in the middle: the echo tool of SEP-2322.

    mrtr-tools call cookbook/echo_task.py echo

`echo` hands on to a step that is marked ``task="optional"``. For a client that knows tasks, the call becomes one there:
it gets the task's id at once, polls it, finds the question, answers it whenever it likes, to any process of the server,
and finds the result. For any other client the same step asks in the ordinary way, and nobody keeps anything.

What is asked before such a step, as by inputs of `echo` itself, is asked before there is a task.

Tasks are kept in a file, sealed, with their key beside it. Clients speak the extension ``io.modelcontextprotocol/
tasks``; for those that were written by SEP-2322's own text, with `tasks/result` and `tasks/input_response`, a server
takes ``sep_2322_tasks=True`` as well.
"""

from typing import Annotated

from pydantic import Field

from mrtr_tools import Toolbox, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("echo")


@toolbox.tool
def echo() -> str:
    """Gives back what it is given, in its own time."""
    return then(give_back)


@toolbox.step(task="optional", task_ttl=3600)
@needs_input(echo_input="Please provide the input string to echo back")
def give_back(echo_input: Annotated[str, Field(alias="input")]) -> str:
    return f"Echo: {echo_input}"


if __name__ == "__main__":
    run_stdio(toolbox, tasks="echo_tasks.sqlite3")
