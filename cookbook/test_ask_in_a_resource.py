import pytest

from cookbook.ask_in_a_resource import toolbox
from mrtr_tools import Refused
from mrtr_tools.testing import Player


def test_it_asks_for_the_currency_and_then_there_is_a_report() -> None:
    played = Player(toolbox).play("sales://2026-q1", currency="USD")

    assert played.text == "# Sales in 2026-q1\n\n1500 USD"
    assert played.messages == {"currency": "In which currency do you want the report?"}


@pytest.mark.parametrize("no", [Refused("decline"), Refused("cancel")])
def test_without_an_answer_it_is_in_euros(no: Refused) -> None:
    assert Player(toolbox).play("sales://2026-q1", currency=no).text.endswith("1200 EUR")


def test_a_client_that_can_show_no_form_gets_it_in_euros() -> None:
    assert Player(toolbox, capabilities={}).play("sales://2026-q1").text.endswith("1200 EUR")


def test_there_is_no_report_on_every_quarter() -> None:
    assert Player(toolbox).play("sales://1999-q1", currency="EUR").is_error
