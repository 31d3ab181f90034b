"""`mrtr-tools run`, `keygen` and `--version`."""

import json
import pickle
import re
import select
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.loading import load_toolbox
from mrtr_tools.cli.workers import Access, Kept, Terms, Worker
from mrtr_tools.keys import generate_key, read_key, read_keys
from mrtr_tools.tasks import MemoryEngine
from mrtr_tools.tasks.sealing import TaskSealer
from tests.server import raw_http
from tests.server.processes import serving

from .conftest import COMMAND, DESK, ROOT, TIMEOUT, WORKS, environment

ACCESS: Access = {
    "allowed_hosts": None,
    "allowed_origins": None,
    "anonymous_ok": False,
    "max_request": 1000,
    "max_calls": 10,
    "grace": 10,
}
TOOLBOX = 'from mrtr_tools import Toolbox\n{name} = Toolbox("{name}")\n'


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Writes a Python file; what loading it leaves behind is taken back."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "modules", {**sys.modules})

    def write(text: str, name: str = "shop_file.py") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_the_only_toolbox_is_found_and_one_of_several_by_its_name(file):
    one = TOOLBOX.format(name="one")

    assert load_toolbox(str(file(one))).name == "one"
    path = file(one + TOOLBOX.format(name="other"))
    assert load_toolbox(f"{path}:other").name == "other"
    with pytest.raises(Stop, match=r"several toolboxes; say which: .*:one or .*:other"):
        load_toolbox(str(path))
    with pytest.raises(Stop, match="no toolbox named 'third'; it has: one, other"):
        load_toolbox(f"{path}:third")


def test_a_file_that_is_not_there_or_holds_no_toolbox_is_named(file, tmp_path):
    with pytest.raises(Stop, match=r"There is no file nowhere\.py"):
        load_toolbox("nowhere.py")
    with pytest.raises(Stop, match="is a folder"):
        load_toolbox(str(tmp_path))
    with pytest.raises(Stop, match=r'no toolbox at its top level. It needs one: toolbox = Toolbox\("name"\)'):
        load_toolbox(str(file("")))


def test_a_file_may_import_its_neighbours_and_be_named_like_a_standard_module(file):
    file('text = "from beside"', "beside_it.py")

    path = file(
        "import beside_it\n" + TOOLBOX.format(name="toolbox").replace('"toolbox"', "beside_it.text"), "calendar.py"
    )

    assert load_toolbox(str(path)).name == "from beside"
    assert sys.modules["calendar"].__file__ != str(path)


def test_an_error_in_the_file_is_shown_from_the_authors_own_line_on(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("def stock():\n    return 1 / 0\n\n\nstock()\n")

    done = run("run", "broken.py", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "Error: broken.py could not be loaded:"
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{path}", line 5, in <module>',
        f'  File "{path}", line 2, in stock',
    ]
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_a_wrong_definition_is_shown_without_the_insides_of_the_library(file):
    text = TOOLBOX.format(name="toolbox") + "from mrtr_tools import needs_input\n\n\n"
    path = file(text + '@toolbox.tool\n@needs_input(nope="What?")\ndef buy(item: str) -> str:\n    return item\n')

    with pytest.raises(Stop) as stopped:
        load_toolbox(str(path))

    assert stopped.value.code == 1
    assert str(stopped.value).count('  File "') == 1
    assert "DefinitionError: buy: input 'nope'" in str(stopped.value)


def test_under_stdio_nothing_but_messages_is_on_stdout_whatever_the_file_prints():
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "count", "arguments": {"letters": ["a"]}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    pipe = subprocess.PIPE

    with subprocess.Popen(
        [*COMMAND, "run", DESK], cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        assert select.select([process.stdout], [], [], TIMEOUT)[0]
        reply = json.loads(process.stdout.readline())
        rest, said = process.communicate(timeout=TIMEOUT)

    assert reply["result"]["structuredContent"] == {"letters": 1}
    assert rest == b""
    assert b"printed while loading" in said
    assert b"printed by a step" in said
    assert process.returncode == 0


def test_over_http_on_this_machine_a_key_is_made_and_one_line_says_so(desk):
    """Security 13."""
    warnings = [line for line in desk.said if line.startswith("Warning: no keys given, so one was made")]

    assert len(warnings) == 1
    assert "mrtr-tools keygen" in warnings[0]


def test_a_server_says_which_key_signs_and_warns_about_callers_nobody_has_identified(desk):
    said = [line for line in desk.said if "desk: " in line]

    assert [line.split(":")[0] for line in said] == ["INFO", "WARNING"]
    assert re.search(r"states are signed with key [0-9a-f]{8}, the first of 1$", said[0])
    assert "callers over HTTP are not authenticated" in said[1]


@pytest.mark.parametrize(
    ("lines", "is_told"), [("", True), ("import logging\nlogging.basicConfig(level='ERROR')\n", False)]
)
def test_a_file_that_says_where_logs_go_is_heard(run, tmp_path, lines, is_told):
    (tmp_path / "shop.py").write_text(lines + TOOLBOX.format(name="shop"))
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that the server comes to an end
        done = run("run", "shop.py", "--http", "--port", str(taken.getsockname()[1]), cwd=tmp_path)

    assert done.returncode == 1
    assert ("shop: states are signed with key" in done.stderr) is is_told


def test_other_machines_are_served_only_with_keys_and_a_name_for_this_one(command, monkeypatch):
    """Security 13."""
    done = command("run", DESK, "--http", "--host", "0.0.0.0")

    assert done.returncode == 2
    assert "Serving on 0.0.0.0 lets other machines in, and needs a key" in done.stderr
    assert "mrtr-tools keygen > keys" in done.stderr

    monkeypatch.setenv("MRTR_TOOLS_KEYS", generate_key())
    done = command("run", DESK, "--http", "--host", "0.0.0.0")

    assert done.returncode == 2
    assert "--allow-host" in done.stderr


def test_options_of_http_without_it_and_keys_that_others_can_read_are_refused(command, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("")
    keys.chmod(0o644)

    assert "go with --http" in command("run", DESK, "--port", "8001").stderr
    assert "chmod 600" in command("run", DESK, "--keys-file", str(keys)).stderr


def test_keygen_prints_a_key_alone_and_how_to_use_it_beside(run):
    done = run("keygen")

    assert read_key(done.stdout)
    assert len(done.stdout.split()) == 1
    assert "MRTR_TOOLS_KEYS" in done.stderr
    assert done.stdout.strip() not in done.stderr


CRASH = """
from mrtr_tools.cli import run
from mrtr_tools.cli.app import app


def crash(file):
    key = "mrtr1_" + "x" * 43
    raise RuntimeError("broken")


run.given_keys = crash
app(["run", "tools.py"])
"""


def test_a_crash_of_the_command_line_shows_no_values():
    """Security 11: what stands in its variables may be keys or answers."""
    shown = environment(PYTHONPATH=str(ROOT))
    command = [sys.executable, "-c", CRASH]
    done = subprocess.run(command, env=shown, capture_output=True, text=True, timeout=TIMEOUT, check=False)

    assert done.returncode == 1
    assert "RuntimeError: broken" in done.stderr
    assert "xxx" not in done.stderr


def test_without_the_extra_one_line_says_what_to_install():
    hidden = "import sys; sys.modules['questionary'] = None; from mrtr_tools.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", hidden, "--version"], cwd=ROOT, env=environment(), capture_output=True,
        encoding="utf-8", timeout=TIMEOUT, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'The command line is not installed. Install it with: pip install "mrtr-tools[cli]"\n'


def test_the_version_is_shown(command):
    assert command("--version").stdout.startswith("mrtr-tools")


# What is used once


def test_a_server_that_lasts_must_be_told_where_claims_are_kept(command, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(generate_key())
    keys.chmod(0o600)
    recipe = str(ROOT / "cookbook" / "use_once.py")

    told = command("run", recipe, "--keys-file", str(keys)).stderr
    assert "redeem_voucher may run once in a call" in told
    assert "--claims" in told
    assert "anonymous_ok=True" in command("run", recipe, "--http", "--keys-file", str(keys)).stderr
    done = command("run", recipe, "--keys-file", str(keys), "--claims", str(tmp_path / "claims"))
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "claims").exists()


def test_a_place_for_claims_that_cannot_be_used_is_named(command, tmp_path):
    (tmp_path / "notes").write_text("these are notes, and many of them, and no database at all")
    recipe = str(ROOT / "cookbook" / "use_once.py")

    for place, word in [("http://host", "redis://"), (str(tmp_path / "no" / "claims"), "No such file")]:
        done = command("run", recipe, "--claims", place)
        assert done.returncode == 2
        assert word in done.stderr
    assert "secret" not in command("run", recipe, "--claims", "redis://me:secret@host:port/0").stderr
    assert "not a database" in command("run", recipe, "--claims", str(tmp_path / "notes")).stderr


def test_how_long_states_live_and_what_they_are_bound_to_can_be_said(command, caplog):
    """Security 7: what a server takes in code can be told on the command line, over stdio and for several processes."""
    recipe = str(ROOT / "cookbook" / "get_weather.py")

    assert command("run", recipe, "--ttl", "60", "--max-age", "600", "--audience", "staging").returncode == 0
    for option, wrong in [("--ttl", "0"), ("--ttl", "nan"), ("--max-age", "-1"), ("--audience", " ")]:
        done = command("run", recipe, option, wrong)
        assert (done.returncode, option in done.stderr) == (2, True), wrong
    terms: Terms = {"audience": "staging", "ttl": 60, "max_age": 600}
    worker = Worker(recipe, read_keys([generate_key()]), None, terms, ACCESS, {"tasks": None, "task_keys": None})
    caplog.set_level("INFO", "mrtr_tools")
    assert worker()  # one of several processes
    assert "staging: states are signed with key" in caplog.text


# Tasks, and what a server takes in


def test_a_file_is_tried_out_with_tasks_that_end_with_its_server(command):
    barn = ["name=Barn", "--answer", "size=4", "--answer", "ok=yes", "--answer", "colour=red", "--json"]
    done = command("call", WORKS, "build", *barn)

    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert [event["status"] for event in told if event["event"] == "task"][-1] == "completed"
    assert told[-1]["structuredContent"] == {"result": "Barn: 16 m2, red"}


def test_a_task_cannot_be_left_to_a_server_that_ends_with_the_call(command):
    detached, seen = command("call", WORKS, "build", "name=Barn", "--detach"), command("task", "get", WORKS, "t")

    assert (detached.returncode, seen.returncode) == (2, 2)
    assert "--tasks" in detached.stderr
    assert f"Say where the tasks of {WORKS} are kept (--tasks)" in seen.stderr


@pytest.fixture
def keys_file(tmp_path) -> str:
    keys = tmp_path / "keys"
    keys.write_text(generate_key())
    keys.chmod(0o600)
    return str(keys)


def test_a_server_that_lasts_must_be_told_where_tasks_are_kept_and_who_may_have_them(command, keys_file, tmp_path):
    serve = ["run", WORKS, "--keys-file", keys_file]

    assert "must can only go on as a task" in command(*serve).stderr
    assert "--tasks" in command(*serve).stderr
    assert "anonymous_ok=True" in command(*serve, "--http", "--tasks", str(tmp_path / "tasks")).stderr
    for place in (tmp_path, tmp_path / "no" / "tasks"):
        away = command(*serve, "--tasks", str(place))
        assert (away.returncode, "give a file, in a folder that is there" in away.stderr) == (2, True)
    shared = command(*serve, "--tasks", "postgresql://me:secret@host/tasks")
    assert (shared.returncode, "--task-keys-file" in shared.stderr) == (2, True)
    assert "secret" not in shared.stderr


def test_keys_of_tasks_come_from_a_file_that_only_its_owner_may_read(command, keys_file, tmp_path):
    """Security 13."""
    open_to_all = tmp_path / "open"
    open_to_all.write_text(generate_key())
    open_to_all.chmod(0o644)

    assert "chmod 600" in command("run", WORKS, "--task-keys-file", str(open_to_all)).stderr
    assert "cannot be read" in command("run", WORKS, "--task-keys-file", str(tmp_path / "none")).stderr


def test_limits_of_http_are_options_too(command, tmp_path):
    for option in (["--allow-origin", "https://example.com"], ["--max-calls", "3"], ["--grace", "1"]):
        done = command("run", DESK, *option)
        assert (done.returncode, f"{option[0]}" in done.stderr, "go with --http" in done.stderr) == (2, True, True)
    done = command("run", DESK, "--http", "--allow-origin", "null")
    assert (done.returncode, "lets in anybody" in done.stderr) == (2, True)


def test_a_server_keeps_to_the_limits_that_it_was_given():
    given = ["--max-request", "500", "--allow-origin", "https://example.com"]
    heads = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with serving(["-m", "mrtr_tools.cli", "run", DESK, "--http", "--port", "0", *given]) as served:
        answers = [
            raw_http.send(served.url, body, {**heads, "Origin": origin}).status
            for body, origin in [
                ("x" * 501, "https://example.com"),
                ("{}", "https://example.com"),
                ("{}", "https://example.org"),
                ("{}", served.url.removesuffix("/mcp")),
            ]
        ]

    assert answers == [413, 400, 403, 403]


SHOWN = """
import os
from mrtr_tools import Toolbox

toolbox = Toolbox("shown")


@toolbox.tool
def see() -> list[str]:
    began_with = open("/proc/self/environ").read()
    return [word for word in ("MRTR_TOOLS_KEYS", "MRTR_TOOLS_TASK_KEYS") if word in os.environ or word in began_with]
"""


def test_keys_of_several_processes_are_in_none_of_their_environments(tmp_path):
    """Security 11: they go to them through a pipe."""
    file = tmp_path / "shown.py"
    file.write_text(SHOWN)
    keys = {"MRTR_TOOLS_KEYS": generate_key(), "MRTR_TOOLS_TASK_KEYS": generate_key()}

    with serving(
        ["-m", "mrtr_tools.cli", "run", str(file), "--http", "--port", "0", "--workers", "2"], **keys
    ) as served:
        seen = raw_http.call(served.url, "see").result

    assert seen["structuredContent"] == {"result": []}


def test_the_keys_of_tasks_go_with_the_worker_and_are_not_shown(caplog):
    """Security 11."""
    ring, of_tasks = read_keys([generate_key()]), read_keys([generate_key()])
    terms: Terms = {"audience": None, "ttl": 60, "max_age": None}
    kept: Kept = {"tasks": None, "task_keys": of_tasks}
    worker = pickle.loads(pickle.dumps(Worker(WORKS, ring, None, terms, {**ACCESS, "anonymous_ok": True}, kept)))
    caplog.set_level("INFO", "mrtr_tools")

    assert [key.secret for key in worker.kept["task_keys"]] == [key.secret for key in of_tasks]
    assert "task_keys" not in repr(worker)
    replace(worker, kept={**worker.kept, "tasks": MemoryEngine()})()
    assert f"under key {TaskSealer.of(of_tasks, 'works').ring.key_id}" in caplog.text
