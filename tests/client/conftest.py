"""What the tests of the command line serve, too."""

from tests.cli.conftest import scripted, works

__all__ = ["scripted", "works"]
