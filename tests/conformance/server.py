"""The tools that the official conformance suite calls, made with nothing but the public names.

    python tests/conformance/server.py --port 8931

See the suite's scenarios `input-required-result-*`. The names of tools, keys and fields are the suite's.
"""

import argparse
from typing import Annotated

from pydantic import Field

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.keys import generate_key
from mrtr_tools.server import run_http

toolbox = Toolbox("conformance", version="1")


@toolbox.tool(cold_answers=True)
@needs_input(user_name="What is your name?")
def test_input_required_result_elicitation(user_name: Annotated[str, Field(alias="name")]) -> str:
    """Asks for a name; a client that knows the question may send the answer along."""
    return f"Hello, {user_name}!"


@toolbox.tool
@needs_input(ok=confirm("Shall I go on?"))
def test_input_required_result_request_state() -> str:
    """Asks for a yes, and carries a state."""
    return "state-ok"


@toolbox.tool
@needs_input(step1="What is your name?")
def test_input_required_result_multi_round(step1: Annotated[str, Field(alias="name")]) -> str:
    """Asks twice, the second time for something else."""
    return then(favourite_colour, name=step1)


@toolbox.step
@needs_input(step2="What is your favourite colour?")
def favourite_colour(name: str, step2: Annotated[str, Field(alias="color")]) -> str:
    """The second round."""
    return f"{name} likes {step2}"


@toolbox.tool
@needs_input(ok=confirm("Shall I go on?"))
def test_input_required_result_tampered_state() -> str:
    """Its state is sent back changed."""
    return "state-ok"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    run_http(toolbox, port=parser.parse_args().port, keys=[generate_key()])
