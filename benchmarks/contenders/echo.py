"""The least that a server over stdin and stdout can do: it says what it was told."""

import sys

if __name__ == "__main__":
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
