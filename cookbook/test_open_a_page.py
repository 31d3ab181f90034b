"""The page is opened in Chromium where there is one: apt-get install chromium-driver."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from threading import Thread, Timer
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from cookbook import open_a_page as recipe
from mrtr_tools import Refused
from mrtr_tools.testing import Player

CHROMEDRIVER = shutil.which("chromedriver")
ADA = '["https://id.example", "a client", "ada"]'
OPTIONS = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]}
CAPABILITIES = {"goog:chromeOptions": OPTIONS, "timeouts": {"implicit": 20_000}}

Visit = Callable[[str, str], str]
"""Opens a path of the page, signs in with a name, presses the button; gives the text that is there then."""


class Chromium:
    """A browser, by the WebDriver protocol."""

    def __init__(self, port: int) -> None:
        self._port, self._session = port, "/session"
        opened = self.ask("POST", "", {"capabilities": {"alwaysMatch": CAPABILITIES}})
        self._session += f"/{opened['sessionId']}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=60)) as driver:
            driver.request(method, self._session + path, None if body is None else json.dumps(body))
            response = driver.getresponse()
            answer = json.load(response)["value"]
        assert response.status == 200, answer
        return answer

    def open(self, url: str) -> None:
        self.ask("POST", "/url", {"url": url})

    def element(self, selector: str) -> str:
        [element] = self.ask("POST", "/element", {"using": "css selector", "value": selector}).values()
        return f"/element/{element}"

    def type(self, selector: str, text: str) -> None:
        self.ask("POST", f"{self.element(selector)}/value", {"text": text})

    def click(self, selector: str) -> None:
        self.ask("POST", f"{self.element(selector)}/click", {})

    def text(self) -> str:
        script = "return document.body ? document.body.innerText : ''"  # in one go, whatever page is there
        return str(self.ask("POST", "/execute/sync", {"script": script, "args": []}))


@contextmanager
def chromium() -> Generator[Chromium]:
    if CHROMEDRIVER is None:
        pytest.skip("there is no chromedriver to drive Chromium with")
    command = [CHROMEDRIVER, "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:  # noqa: S603
        try:
            assert driver.stdout
            port = next(line.rpartition("port ")[2].rstrip(".\n") for line in driver.stdout if "started" in line)
            browser = Chromium(int(port))
            yield browser
            browser.ask("DELETE", "")
        finally:
            driver.terminate()


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page, at a port of its own."""
    monkeypatch.setattr(recipe, "serve_pages", lambda: None)
    monkeypatch.setattr(recipe, "WAIT", 0)
    monkeypatch.setattr(recipe, "payers", {})
    monkeypatch.setattr(recipe, "paid", set[str]())
    with ThreadingHTTPServer(("127.0.0.1", 0), recipe.Page) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["in Chromium", "by hand"])
def visit(request: pytest.FixtureRequest, address: str) -> Iterator[Visit]:
    def by_hand(path: str, visitor: str) -> str:
        with closing(HTTPConnection(address, timeout=10)) as page:
            page.request("POST", path, urlencode({"visitor": visitor}))
            return page.getresponse().read().decode()

    if request.param == "by hand":
        yield by_hand
        return
    with chromium() as browser:

        def in_chromium(path: str, visitor: str) -> str:
            browser.open(f"http://{address}{path}")
            browser.type("input", visitor)
            form, deadline = browser.text(), time.monotonic() + 20
            browser.click("button")
            while (text := browser.text()) == form and time.monotonic() < deadline:
                pass  # the answer is on its way
            return text

        yield in_chromium


def path_of(request: Any) -> str:
    url: str = request["params"]["url"]
    return urlsplit(url).path


def test_whoever_made_the_call_pays_on_the_page_and_nobody_else_can(visit: Visit) -> None:
    visitors, said = ["eve", "ada"], list[str]()

    def person(request: Any) -> bool:
        said.append(visit(path_of(request), visitors.pop(0)))
        return True

    played = Player(recipe.toolbox, principal=ADA).play("pay_invoice", {"number": 7}, page=person)

    assert played.text == "Invoice 7 is paid."
    assert played.messages == {
        "page": "Pay invoice 7 on this page",
        "page-2": "The invoice is not paid yet.\nPay invoice 7 on this page",
    }
    assert "This link is not for you." in said[0]
    assert "Thank you, ada." in said[1]
    assert played.ran == ["pay_invoice", "receipt", "receipt"]


def test_to_open_the_page_is_not_to_pay(address: str) -> None:
    def person(request: Any) -> object:
        with closing(HTTPConnection(address, timeout=10)) as page:
            page.request("GET", path_of(request))
            assert page.getresponse().status == 200
        return not request["params"]["message"].startswith("The invoice is not paid yet.")

    played = Player(recipe.toolbox, principal=ADA).play("pay_invoice", {"number": 7}, page=person)

    assert played.is_error
    assert played.questions == ["page", "page-2"]


@pytest.mark.usefixtures("address")
def test_a_no_ends_the_call() -> None:
    played = Player(recipe.toolbox, principal=ADA).play("pay_invoice", {"number": 7}, page=Refused("decline"))

    assert played.is_error
    assert played.ran == ["pay_invoice"]


@pytest.mark.usefixtures("address")
def test_the_link_says_nothing_about_the_person_or_the_invoice() -> None:
    urls: list[str] = []

    def person(request: Any) -> bool:
        urls.append(request["params"]["url"])
        return False

    Player(recipe.toolbox, principal=ADA).play("pay_invoice", {"number": 7}, page=person)

    assert urls == [f"http://127.0.0.1:8123/{handle}" for handle in recipe.payers]


def test_the_step_goes_on_as_soon_as_the_page_is_done(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "WAIT", 60)

    def person(request: Any) -> bool:
        handle = path_of(request).strip("/")
        assert recipe.payers[handle] == "ada"
        Timer(0.1, recipe.paid.add, [handle]).start()
        return True

    assert not Player(recipe.toolbox, principal=ADA).play("pay_invoice", {"number": 7}, page=person).is_error
