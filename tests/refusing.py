"""For tests of wrong definitions: that they are refused, and in which words."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mrtr_tools import DefinitionError


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """What is inside raises a `DefinitionError` with all of `words` in its text: function, parameter, the way out."""
    with pytest.raises(DefinitionError) as caught:
        yield
    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text
