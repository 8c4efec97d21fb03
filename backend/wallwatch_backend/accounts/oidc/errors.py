"""Why single sign-on refuses somebody. The texts are shown to that person, the reasons go to the audit log."""


class OidcRefused(Exception):
    """A sign-in that did not succeed."""

    def __init__(self, reason: str, text: str, *, status: int = 403) -> None:
        super().__init__(text)
        self.reason, self.text, self.status = reason, text, status


class ProviderUnreachable(OidcRefused):
    """The provider did not answer, or not as the standard says."""

    def __init__(self, text: str) -> None:
        super().__init__("provider_unreachable", text, status=502)


class InvalidToken(OidcRefused):
    """The ID token does not prove who signs in."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            reason, "The provider's answer could not be verified. Sign in again; if this repeats, show an administrator the reason."
        )
