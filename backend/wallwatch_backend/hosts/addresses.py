"""Where agents reach this server."""

from urllib.parse import urlsplit, urlunsplit

from wallwatch_backend.settings import Settings

OPAMP_PATH = "/v1/opamp"
ENROL_PATH = "/api/v1/agents/enrol"


def opamp_url(base_url: str) -> str:
    """Return the OpAMP address of a server's base URL.

    >>> opamp_url("https://wallwatch.example/")
    'wss://wallwatch.example/v1/opamp'
    """
    parts = urlsplit(base_url)
    scheme = "wss" if parts.scheme == "https" else "ws"
    return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + OPAMP_PATH, "", ""))


def agent_port_opamp_url(settings: Settings) -> str:
    """Return the OpAMP address of the agents' TLS port."""
    return opamp_url(str(settings.agent_url))
