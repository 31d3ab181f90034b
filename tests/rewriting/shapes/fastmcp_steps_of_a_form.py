# expect: add_expense ported
# expect: list_expenses nothing
# play: {"tool": "add_expense", "arguments": {"user_alias": "ann"}, "answers": {"ask": {"amount": 3.5}, "ask-2": {"description": "tea"}, "ask-3": {"confirm": "Yes"}}, "says": "Added 3.50 for tea"}
# steps: {"tool": "add_expense", "arguments": {"user_alias": "ann"}, "answers": {"amount_input": {"amount": 3.5}, "description_input": {"description": "tea"}, "confirm_input": {"confirm": "Yes"}}, "says": "Added 3.50 for tea"}
# steps: {"tool": "add_expense", "arguments": {"user_alias": "ann"}, "answers": {"amount_input": {"amount": 3.5}, "description_input": {"description": "tea"}, "confirm_input": {"confirm": "No"}}, "says": "cancelled"}
"""Four questions in a row, guarded each; the work comes last."""

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation
from pydantic import BaseModel

mcp = FastMCP(name="ElicitationMCP")
EXPENSES: list[dict] = []


class AmountInput(BaseModel):
    amount: float


class DescriptionInput(BaseModel):
    description: str


class ConfirmInput(BaseModel):
    confirm: str


@mcp.tool()
def list_expenses() -> list[dict]:
    """All of them."""
    return EXPENSES


@mcp.tool()
async def add_expense(user_alias: str, ctx: Context) -> str:
    """Add an expense, step by step."""
    print(f"Debug this method, user_alias: {user_alias}")
    result = await ctx.elicit("How much did you spend?", AmountInput)
    if not isinstance(result, AcceptedElicitation):
        return "Expense entry cancelled."
    amount = result.data.amount

    result = await ctx.elicit("What was it for?", DescriptionInput)
    if not isinstance(result, AcceptedElicitation):
        return "Expense entry cancelled."
    description = result.data.description

    confirm_msg = f"Confirm: add expense of ${amount:.2f} for {description}? Reply Yes or No"
    result = await ctx.elicit(confirm_msg, ConfirmInput)
    if not isinstance(result, AcceptedElicitation) or result.data.confirm != "Yes":
        return "Expense entry cancelled."
    EXPENSES.append({"who": user_alias, "amount": amount, "what": description})
    return f"Added {amount:.2f} for {description}"


if __name__ == "__main__":
    mcp.run(transport="http", host="0.0.0.0", port=8000)
