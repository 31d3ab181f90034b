"""Change the key that states are signed with, while calls are under way, and refuse nobody.

All processes of a server share a file of keys: the first one signs, all of them are taken. It begins with one key:

    (umask 077; mrtr-tools keygen > keys)
    mrtr-tools run cookbook/rotate_keys.py --http --keys-file keys

In the middle of a deployment some processes have the new file and some the old one, and each must take what the others
sign. So a change takes three, each of them over before the next begins:

1. Everybody learns the new key, and nobody signs with it yet.

    mrtr-tools keygen >> keys

2. It signs. What the old key has signed is still taken.

    (umask 077; (tail -n 1 keys; head -n 1 keys) > turned && mv turned keys)

3. The old key goes, when the last state that it signed has expired: `ttl` and a minute after the end of 2.

    (umask 077; head -n 1 keys > kept && mv kept keys)

Skip the first, and what one process signs is unknown to the next; its log says `unknown_key`, its client hears what
meets a forged state. A key that has leaked is not changed like this: whoever has it can sign what they like until it is
gone, so drop it at once, whatever calls that may end.
"""

import os

from mrtr_tools import Toolbox, confirm, needs_input
from mrtr_tools.server import run_http

toolbox = Toolbox("theatre")


@toolbox.tool
@needs_input(row="Which row for {play}?")
@needs_input(ok=confirm("A seat for {play} in row {row}?"))
def reserve_seat(play: str, row: int) -> str:
    """Reserve a seat, in a call of three requests."""
    return f"A seat for {play} in row {row} is yours."


if __name__ == "__main__":
    run_http(toolbox, port=int(os.environ.get("PORT", "8000")), keys_file="keys")
