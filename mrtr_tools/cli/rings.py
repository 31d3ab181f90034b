"""Keys that a command is given."""

from __future__ import annotations

from pathlib import Path

from mrtr_tools.cli.exits import Stop
from mrtr_tools.keys import VARIABLE, InvalidKey, Key, keys_from_environment, keys_from_file

__all__ = ["given_keys"]


def given_keys(file: Path | None, variable: str = VARIABLE) -> tuple[Key, ...] | None:
    """The keys of a file, else those of the environment, which are removed there; None without any.

    Raises:
        Stop: the file cannot be read, or a key cannot be used.
    """
    try:
        inherited = keys_from_environment(variable=variable)  # also when it is not used: no step should see it
        return inherited if file is None else keys_from_file(file)
    except InvalidKey as error:
        raise Stop(str(error)) from None
    except OSError as error:
        raise Stop(f"{file} cannot be read: {error.strerror}") from None
