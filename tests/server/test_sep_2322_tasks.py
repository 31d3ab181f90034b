"""The persistent example of SEP-2322, message by message as it stands there: over HTTP, and over stdio."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cookbook import echo_task
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from mrtr_tools.tasks import MemoryEngine
from tests.server import raw_stdio
from tests.server.raw_http import send, serving

RELATED = "io.modelcontextprotocol/related-task"
POLLS = 2000
ECHO = "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
Exchange = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(params=["http", "http, all else by the SDK", "stdio", "stdio, all else by the SDK"])
def exchange(request: pytest.FixtureRequest) -> Iterator[Exchange]:
    """Sends one message, with no headers but what HTTP itself needs, and gives the answer."""
    if request.param.startswith("http"):
        lean = request.param == "http"
        app = http_app(
            echo_task.toolbox,
            keys=[generate_key()],
            tasks=MemoryEngine(),
            sep_2322_tasks=True,
            anonymous_ok=True,
            lean=lean,
        )
        with serving(app) as url:
            yield lambda told: send(url, json.dumps(told), {"Content-Type": "application/json"}).body
    else:
        transport = "stdio" if request.param == "stdio" else "sdk"
        with raw_stdio.served("cookbook.echo_task", transport=transport, TASKS="proposed") as wire:

            def over_stdio(told: dict[str, Any]) -> dict[str, Any]:
                wire.write(json.dumps(told).encode())
                return wire.receive()

            yield over_stdio


# Each message as it stands there


CALL = """
{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "tools/call",
  "params": {
    "name": "echo",
    "task": {
      "ttl": 60000
    }
  }
}
"""
CREATED = """
{
  "id": 1,
  "jsonrpc": "2.0",
  "result": {
    "task": {
      "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5",
      "status": "working",
      "statusMessage": "Task has been created for echo tool invocation.",
      "createdAt": "2026-01-27T03:32:48.3148180Z",
      "lastUpdatedAt": "2026-01-27T03:32:48.3148180Z",
      "ttl": 60000,
      "pollInterval": 100
    }
  }
}
"""
GET = """
{
  "jsonrpc": "2.0",
  "id": 2,
  "method": "tasks/get",
  "params": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
  }
}
"""
ASKING = """
{
  "id": 2,
  "jsonrpc": "2.0",
  "result": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5",
    "status": "input_required",
    "statusMessage": "Input Required to Proceed call tasks/result",
    "createdAt": "2026-01-27T03:38:07.7534643Z",
    "lastUpdatedAt": "2026-01-27T03:38:07.7534643Z",
    "ttl": 60000,
    "pollInterval": 100
  }
}
"""
WHAT = """
{
  "jsonrpc": "2.0",
  "id": 3,
  "method": "tasks/result",
  "params": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
  }
}
"""
QUESTIONS = """
{
  "id": 3,
  "jsonrpc": "2.0",
  "result": {
    "resultType": "input_required",
    "inputRequests": {
      "echo_input": {
        "method": "elicitation/create",
        "params": {
          "mode": "form",
          "message": "Please provide the input string to echo back",
          "requestedSchema": {
            "type": "object",
            "properties": {
              "input": { "type": "string" }
            },
            "required": ["input"]
          }
        }
      }
    }
  },
  "_meta": {
    "io.modelcontextprotocol/related-task": {
      "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
    }
  }
}
"""
RESPONSE = """
{
  "jsonrpc": "2.0",
  "id": 4,
  "method": "tasks/input_response",
  "params": {
    "inputResponses": {
      "echo_input": {
        "action": "accept",
        "content": {
          "input": "Hello World!"
        }
      }
    },
    "_meta": {
      "io.modelcontextprotocol/related-task": {
        "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
      }
    }
  }
}
"""
ACKNOWLEDGED = """
{
  "id": 4,
  "jsonrpc": "2.0",
  "result": {
    "_meta": {
      "io.modelcontextprotocol/related-task": {
        "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
      }
    }
  }
}
"""
GET_AGAIN = """
{
  "jsonrpc": "2.0",
  "id": 5,
  "method": "tasks/get",
  "params": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
  }
}
"""
COMPLETED = """
{
  "id": 5,
  "jsonrpc": "2.0",
  "result": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5",
    "status": "completed",
    "statusMessage": "Task has been completed successfully, call tasks/result",
    "createdAt": "2026-01-27T03:38:07.7534643Z",
    "lastUpdatedAt": "2026-01-27T03:38:08.1234567Z",
    "ttl": 60000,
    "pollInterval": 100
  }
}
"""
RESULT = """
{
  "id": 6,
  "jsonrpc": "2.0",
  "method": "tasks/result",
  "params": {
    "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
  }
}
"""
GIVEN_BACK = """
{
  "id": 6,
  "jsonrpc": "2.0",
  "result": {
    "resultType": "complete",
    "isError": false,
    "content": [
      {
        "type": "text",
        "text": "Echo: Hello World!"
      }
    ],
    "_meta": {
      "io.modelcontextprotocol/related-task": {
        "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
      }
    }
  }
}
"""
WITH_A_SCHEMA = {"structuredContent": {"result": "Echo: Hello World!"}}
"""What a result has beside that, for tools with an `outputSchema`, which the proposal's has not."""
UNEXPECTED = """
{
  "jsonrpc": "2.0",
  "id": 4,
  "method": "tasks/input_response",
  "params": {
    "inputResponses": {
      "echo_input": {
        "action": "accept",
        "content": {
          "not_requested_parameter": "Information the server did not request."
        }
      }
    },
    "_meta": {
      "io.modelcontextprotocol/related-task": {
        "taskId": "echo_dc792e24-01b5-4c0a-abcb-0559848ca3c5"
      }
    }
  }
}
"""


def message(text: str, task: str = ECHO) -> dict[str, Any]:
    """A message with the id that a task has here."""
    return json.loads(text.replace(ECHO, task))


def polled(exchange: Exchange, asked: dict[str, Any], status: str) -> dict[str, Any]:
    """The first answer that has this status."""
    for _ in range(POLLS):
        answer = exchange(asked)
        if answer["result"]["status"] == status:
            return answer
    raise AssertionError(f"no task came to be {status}")


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with texts in ISO 8601 in place of their times."""
    task = answer["result"].get("task", answer["result"])
    for name in ("createdAt", "lastUpdatedAt"):
        if name in task:
            assert datetime.fromisoformat(task[name]).tzinfo == UTC
            task[name] = "a time"
    return answer


def asked(exchange: Exchange) -> str:
    """The id of a task that asks its question, after the first six messages."""
    created = exchange(message(CALL))
    task = created["result"]["task"]["taskId"]

    assert timeless(created) == timeless(message(CREATED, task))
    asking = polled(exchange, message(GET, task), "input_required")
    assert timeless(asking) == timeless(message(ASKING, task))
    assert exchange(message(WHAT, task)) == message(QUESTIONS, task)
    return task


def test_the_echo_tool_asks_inside_its_task_and_gives_back_what_it_got(exchange):
    """Spec P34, P35, P37: all twelve messages."""
    task = asked(exchange)

    assert exchange(message(RESPONSE, task)) == message(ACKNOWLEDGED, task)
    completed = polled(exchange, message(GET_AGAIN, task), "completed")
    assert timeless(completed) == timeless(message(COMPLETED, task))
    given_back = message(GIVEN_BACK, task)
    given_back["result"] |= WITH_A_SCHEMA
    assert exchange(message(RESULT, task)) == given_back


def test_an_answer_that_lacks_what_was_asked_is_acknowledged_and_asked_for_anew(exchange):
    """Spec P44: steps seven and eight of the same flow, with other content; the task goes on asking."""
    task = asked(exchange)

    assert exchange(message(UNEXPECTED, task)) == message(ACKNOWLEDGED, task)
    assert timeless(exchange(message(GET, task))) == timeless(message(ASKING, task))
    again = exchange(message(WHAT, task))
    [(key, question)] = again["result"]["inputRequests"].items()
    [first] = message(QUESTIONS)["result"]["inputRequests"].values()
    assert key != "echo_input"  # an answered key is not used again in the life of a task
    assert question["params"]["requestedSchema"] == first["params"]["requestedSchema"]
    assert first["params"]["message"] in question["params"]["message"]

    response = message(RESPONSE, task)
    response["params"]["inputResponses"] = {key: response["params"]["inputResponses"]["echo_input"]}
    assert exchange(response) == message(ACKNOWLEDGED, task)
    assert polled(exchange, message(GET_AGAIN, task), "completed")
    assert exchange(message(RESULT, task))["result"]["content"] == message(GIVEN_BACK)["result"]["content"]
