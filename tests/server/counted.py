"""The three recipes, with every run of a step noted in the file that `RAN` names."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mrtr_tools import Toolbox, confirm, needs_input, then

toolbox = Toolbox("counted")


def ran(step: str) -> None:
    with Path(os.environ["RAN"]).open("a") as file:
        file.write(f"{step}\n")


@toolbox.tool
@needs_input(github_login="Please provide your GitHub username")
def get_weather(location: str, github_login: Annotated[str, Field(alias="name")]) -> str:
    ran("get_weather")
    return f"Weather in {location} for {github_login}"


@toolbox.tool(cold_answers=True)
@needs_input(
    resolution="How was Bug #{work_item_id} resolved?",
    only_if=lambda fields: fields.get("System.State") == "Resolved",
)
@needs_input(duplicate_of="Of which work item?", only_if=lambda resolution: resolution == "Duplicate")
def update_work_item(
    work_item_id: Annotated[int, Field(alias="workItemId")],
    fields: dict[str, str],
    resolution: Literal["Fixed", "Duplicate"] | None = None,
    duplicate_of: Annotated[int | None, Field(alias="duplicateOfId")] = None,
) -> str:
    ran("update_work_item")
    return f"{work_item_id} {fields} {resolution} {duplicate_of}"


class Flight(BaseModel):
    number: str
    price: int


@toolbox.tool
async def book_flight(origin: str, destination: str) -> str:
    ran("book_flight")
    return then(purchase, destination=destination, flight=Flight(number=f"{origin}-1", price=120))


@toolbox.step
@needs_input(ok=confirm("Fly to {destination} for {flight.price}?"))
async def purchase(destination: str, flight: Flight) -> str:
    ran("purchase")
    return f"Booked {flight.number} to {destination} for {flight.price}"
