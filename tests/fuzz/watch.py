"""What must not happen beside an answer: an error in a log, and so an exception that nobody was told of."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

ALLOWED = ("may carry",)
"""Words of errors that a request may cause: it has a server carry more than a state holds."""

ENDS = ("The question ", "No usable answer for ", "This call has to carry ", "The call asked ")
"""How the text begins when a prompt or a resource ends as a tool would, with an error for people (also -32603)."""


class _Noting(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.noted: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not any(words in record.getMessage() for words in ALLOWED):
            self.noted.append(logging.Formatter().format(record))


@contextmanager
def nothing_logged() -> Iterator[None]:
    """What is inside logs no error; what is less than one goes nowhere."""
    noting, root, disabled = _Noting(), logging.getLogger(), logging.root.manager.disable
    root.addHandler(noting)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.removeHandler(noting)
    assert noting.noted == [], noting.noted[0]


def look_at(message: object) -> None:
    """A message of the server: no internal error, and no tool that failed in a way nobody meant."""
    error = message.get("error") if isinstance(message, dict) else None
    if isinstance(error, dict):
        assert isinstance(error.get("code"), int), message
        assert isinstance(error.get("message"), str), message
        assert error["code"] != -32603 or error["message"].startswith(ENDS), message
    assert "failed unexpectedly" not in str(message), message
