"""A no is an answer: tell "no", "not now" and "cannot be asked" apart, and do what fits each.

    mrtr-tools call cookbook/handle_a_no.py post_review product=Kettle stars=4

A refusal ends the call, unless the parameter says that it may be one: `str | Refused`. What is then in `action`:

- `decline`: somebody read the question and said no. Do without, and do not ask again.
- `cancel`: somebody left the question. They may want to be asked another time.
- `unsupported`: nobody was asked, for this client cannot show the question. Never take that for a no, or for a yes.

`Refused` is falsy, so `if not name` serves where the three are alike, and where an empty answer is one as well. A
`confirm` needs no such parameter: without a yes its step does not run.
"""

from mrtr_tools import Refused, Toolbox, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("reviews")


@toolbox.tool
@needs_input(name="Under which name shall your {stars} stars for {product} be shown?")
def post_review(product: str, stars: int, name: str | Refused) -> str:
    """Post a review of a product."""
    match name:
        case Refused("decline"):
            return post(product, stars, "Anonymous")
        case Refused("cancel"):
            return "Nothing was posted. Call again when you know under which name."
        case Refused():
            return "Nothing was posted: this client cannot ask for a name, and nobody has agreed to do without."
        case str():
            return post(product, stars, name)


def post(product: str, stars: int, name: str) -> str:
    """Stands for what posts it."""
    return f"{product}: {'*' * stars} by {name}"


if __name__ == "__main__":
    run_stdio(toolbox)
