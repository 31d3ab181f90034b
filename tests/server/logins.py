"""Two builds of a tool that needs two logins, one of which the upgrade replaces: SEP-2322's rolling upgrade."""

from mrtr_tools import Toolbox, needs_input

before, after = Toolbox("logins"), Toolbox("logins")


@before.tool(name="link")
@before.tool(name="link_cold", cold_answers=True)
@needs_input(github_login="Please provide your GitHub username", google_login="Please provide your Google username")
def link_google(github_login: str, google_login: str) -> str:
    return f"{github_login} is {google_login} at Google"


@after.tool(name="link")
@after.tool(name="link_cold", cold_answers=True)
@needs_input(
    github_login="Please provide your GitHub username", microsoft_login="Please provide your Microsoft username"
)
def link_microsoft(github_login: str, microsoft_login: str) -> str:
    return f"{github_login} is {microsoft_login} at Microsoft"
