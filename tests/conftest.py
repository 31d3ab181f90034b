"""Settings of the whole test suite.

Async tests carry `pytest.mark.anyio` and run on asyncio and on trio, which is what anyio's plugin does by itself.
"""

import os

from hypothesis import settings

# No deadline: how long one example takes says more about the machine than about the code.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
