"""A tool that asks nothing: an ordinary function, sync or async."""

from mrtr_tools import Toolbox

toolbox = Toolbox("units")


@toolbox.tool
def to_fahrenheit(celsius: float) -> float:
    """Degrees Celsius in degrees Fahrenheit."""
    return celsius * 9 / 5 + 32


@toolbox.tool(title="To kelvin")
async def to_kelvin(celsius: float) -> float:
    """Degrees Celsius in kelvin."""
    return celsius + 273.15
