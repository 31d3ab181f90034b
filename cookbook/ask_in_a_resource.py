"""A resource that asks before it is read: a report, in the currency that its reader wants.

    mrtr-tools run cookbook/ask_in_a_resource.py --http

`{quarter}` in the URI is a parameter; the other parameter is asked. The answer is no part of the URI, so what was read
with it is marked as private and not to be kept: the next reader is asked anew. A resource has no tool error to end
with: a refusal that its parameter does not admit becomes an error of the request, so `Refused` is admitted here.
"""

from typing import Literal

from mrtr_tools import Refused, Toolbox, ToolError, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("reports")

SALES = {"2026-q1": 1200, "2026-q2": 1500}  # in EUR
RATES = {"EUR": 1.0, "USD": 1.25}


@toolbox.resource("sales://{quarter}", mime_type="text/markdown")
@needs_input(currency="In which currency do you want the report?")
def sales(quarter: str, currency: Literal["EUR", "USD"] | Refused) -> str:
    """The sales of a quarter, such as 2026-q1."""
    if quarter not in SALES:
        raise ToolError("There is no report on that quarter")
    chosen = currency or "EUR"
    return f"# Sales in {quarter}\n\n{SALES[quarter] * RATES[chosen]:.0f} {chosen}"


if __name__ == "__main__":
    run_stdio(toolbox)
