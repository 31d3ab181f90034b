"""A toolbox out of a Python file: ``FILE`` or ``FILE:NAME``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

import mrtr_tools
from mrtr_tools import DefinitionError, Toolbox
from mrtr_tools.cli.exits import FAILED, Stop

__all__ = ["load_toolbox", "split_target"]

LIBRARY: Final = str(Path(mrtr_tools.__file__).parent)


def load_toolbox(target: str) -> Toolbox:
    """Run the file as `python FILE` would, but not as ``__main__``, and take its toolbox.

    Raises:
        Stop: there is no such file, it fails (the text is the author's traceback), or it holds no toolbox, or several
            and `target` does not say which.
    """
    path, name = split_target(target)
    found = {key: value for key, value in vars(_loaded(path)).items() if isinstance(value, Toolbox)}
    if name is not None:
        if name not in found:
            raise Stop(f"{path} has no toolbox named {name!r}; it has: {', '.join(found) or 'none'}")
        return found[name]
    if not found:
        raise Stop(f'{path} has no toolbox at its top level. It needs one: toolbox = Toolbox("name")')
    if len({id(toolbox) for toolbox in found.values()}) > 1:
        raise Stop(f"{path} has several toolboxes; say which: " + " or ".join(f"{path}:{key}" for key in found))
    return next(iter(found.values()))


def split_target(target: str) -> tuple[Path, str | None]:
    """The file, and the name of the toolbox in it.

    Raises:
        Stop: there is no such file.
    """
    path, name = Path(target), None
    if not path.exists():
        before, _, after = target.rpartition(":")
        if before and after.isidentifier():
            path, name = Path(before), after
    if path.is_dir():
        raise Stop(f"{path} is a folder; name the Python file that holds the toolbox")
    if not path.is_file():
        raise Stop(f"There is no file {path}")
    return path, name


def _loaded(path: Path) -> ModuleType:
    file = path.resolve()
    name = _module_name(file.stem)
    spec = spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    if spec is None or spec.loader is None:
        raise Stop(f"{path} is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        with _stdout_is_stderr():
            spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - whatever the author's file does
        raise Stop(f"{path} could not be loaded:\n{_told(error, file)}", FAILED) from None
    return module


def _module_name(stem: str) -> str:
    """The file's own name, unless the standard library, or something imported already, goes by it."""
    taken = stem in sys.modules or stem in sys.stdlib_module_names
    return f"toolbox_file_{stem}" if taken or not stem.isidentifier() else stem


@contextmanager
def _stdout_is_stderr() -> Generator[None]:
    """Under stdio, stdout is the protocol's, and what a file prints while it loads must not be read as a message."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(wire, 1)
        os.close(wire)


def _told(error: Exception, file: Path) -> str:
    """The traceback as the author knows it: from their file on, and for a wrong definition without what is ours."""
    told = traceback.TracebackException.from_exception(error)
    frames = list(told.stack)
    starts = [number for number, frame in enumerate(frames) if frame.filename == str(file)]
    frames = frames[starts[0] :] if starts else []
    if isinstance(error, DefinitionError):
        frames = [frame for frame in frames if not frame.filename.startswith(LIBRARY)]
    told.stack = traceback.StackSummary.from_list(frames)
    return "".join(told.format(chain=not isinstance(error, DefinitionError))).rstrip()
