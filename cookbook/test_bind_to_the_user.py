"""The recipe as a process of its own, and an identity provider that signs real tokens."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken

from cookbook import bind_to_the_user as recipe
from mrtr_tools.keys import generate_key
from mrtr_tools.server import attach
from mrtr_tools.testing import Player
from tests.server.processes import serving as started
from tests.server.raw_http import Answer, accept, request, serving

PROVIDER = Ed25519PrivateKey.generate()
FROZEN = {"code": -32602, "message": "Invalid or expired requestState"}
MAIL = {"address": accept(address="me@home.example")}


def token(subject: str | None = None, /, key: Ed25519PrivateKey = PROVIDER, **claims: Any) -> str:
    """What a person, or a machine without a subject, is given by the identity provider; each one is another text."""
    said = {
        "iss": recipe.ISSUER,
        "aud": recipe.HERE,
        "client_id": "app",
        "exp": time.time() + 600,
        "jti": token_hex(),
    }
    return jwt.encode({**said, **({"sub": subject} if subject else {}), **claims}, key, "EdDSA")


def as_bearer(url: str, bearer: str | None, **params: Any) -> Answer:
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    called = {"name": "send_statement", "arguments": {"month": "2026-07"}, **params}
    return request(url, "tools/call", called, headers=headers)


def state_of(url: str, bearer: str) -> str:
    state: str = as_bearer(url, bearer).result["requestState"]
    return state


@pytest.fixture(scope="module")
def issuer_key(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("provider") / "issuer.pem"
    path.write_bytes(PROVIDER.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return str(path)


@pytest.fixture(scope="module")
def url(issuer_key: str) -> Iterator[str]:
    given = {"ISSUER_KEY": issuer_key, "MRTR_TOOLS_KEYS": generate_key(), "PORT": "0"}
    with started([str(Path(recipe.__file__))], **given) as server:
        yield server.url


def test_a_person_goes_on_with_their_own_call_also_after_a_new_sign_in(url: str) -> None:
    state = state_of(url, token("ada"))

    done = as_bearer(url, token("ada"), requestState=state, inputResponses=MAIL).result

    assert done["content"][0]["text"] == "Sent to me@home.example: ada has 120 EUR at the end of 2026-07"


def test_nobody_goes_on_with_the_call_of_another(url: str) -> None:
    """Security 12: what they hear is what meets a forged state."""
    state = state_of(url, token("ada"))
    forged = state[:-4] + ("AAAA" if state[-4:] != "AAAA" else "BBBB")

    for stranger in (token("eve"), token("ada", client_id="another app")):
        assert as_bearer(url, stranger, requestState=state, inputResponses=MAIL).error == FROZEN
    assert as_bearer(url, token("eve"), requestState=forged, inputResponses=MAIL).error == FROZEN


@pytest.mark.parametrize(
    "bearer",
    [
        None,
        "ada",
        token("ada", Ed25519PrivateKey.generate()),
        token("ada", exp=time.time() - 60),
        token("ada", aud="https://another.example/mcp"),
        token("ada", iss="https://another.example"),
        jwt.encode({"sub": "ada"}, "", "none"),
    ],
    ids=["none", "no token", "another key", "expired", "for another server", "of another issuer", "unsigned"],
)
def test_without_a_token_of_the_identity_provider_nothing_is_served(url: str, bearer: str | None) -> None:
    assert as_bearer(url, bearer).status == 401


def test_a_token_that_names_nobody_is_refused(url: str) -> None:
    """Security 12: all who share its client would be one person."""
    refused = as_bearer(url, token())

    assert refused.error == {"code": -32603, "message": "The access token does not say who is calling"}


@contextmanager
def served(principal: Any) -> Generator[str]:
    """The server of the recipe, attached in another way."""
    server = MCPServer[None]("bank", auth=recipe.auth, token_verifier=recipe.Tokens())
    attach(recipe.toolbox, server, keys=[generate_key()], principal=principal)
    with serving(server.streamable_http_app()) as address:
        yield address


def test_the_log_tells_a_stranger_from_a_forgery(
    issuer_key: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Security 12, 23: somebody may have to be warned that their state is in other hands."""
    monkeypatch.setenv("ISSUER_KEY", issuer_key)
    with served("subject") as address:
        state = state_of(address, token("ada"))
        as_bearer(address, token("eve"), requestState=state)
        as_bearer(address, token())

    assert "requestState refused: principal" in caplog.text
    assert state not in caplog.text
    assert 'principal="client"' in caplog.text


def test_a_server_for_machines_tells_them_by_their_client(issuer_key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 12."""
    monkeypatch.setenv("ISSUER_KEY", issuer_key)
    with served("client") as address:
        state = state_of(address, token())
        given = {"requestState": state, "inputResponses": MAIL}

        assert as_bearer(address, token(client_id="another"), **given).error == FROZEN
        assert as_bearer(address, token(), **given).result["resultType"] == "complete"


def test_a_function_may_name_the_caller_and_refuses_when_it_does_not(
    issuer_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Security 12."""
    monkeypatch.setenv("ISSUER_KEY", issuer_key)

    def household(bearer: AccessToken) -> str:
        return {"ada": "the Lovelaces", "byron": "the Lovelaces"}[bearer.subject or ""]

    with served(household) as address:
        given = {"requestState": state_of(address, token("ada")), "inputResponses": MAIL}

        assert as_bearer(address, token("eve"), **given).error == {"code": -32603, "message": "Internal error"}
        assert as_bearer(address, token("byron"), **given).result["resultType"] == "complete"


def test_its_toolbox_is_tested_without_the_server() -> None:
    played = Player(recipe.toolbox, principal='["i", "c", "ada"]').play(
        "send_statement", {"month": "2026-07"}, address="me@home.example"
    )

    assert played.text == "Sent to me@home.example: ada has 120 EUR at the end of 2026-07"
