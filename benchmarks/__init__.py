"""How fast a round is and how large its state, beside the official SDK; see README.md."""
