"""What all of them ask and answer."""

WEATHER_ABOUT = "Current weather, for GitHub users."
LOGIN = "Please provide your GitHub username"
WORK_ITEM_ABOUT = "Set the state of a bug."
RESOLUTION = "Resolving bug #{work_item} requires a resolution. How was this bug resolved?"
ORIGINAL = "Since this is a duplicate, which work item is the original?"


def weather(location: str, name: str) -> str:
    return f"Current weather in {location} for {name}: 72°F"


def work_item_done(work_item: int, state: str, resolution: str, original: int | None) -> str:
    return f"Bug #{work_item} {state}: {resolution}" + (f" of #{original}" if original else "")
