"""Telemetry keys, which hosts prove their names with in each message (docs/decisions/0015)."""

from pathlib import Path

from wallwatch.store.telemetry_secret import TelemetryKeys, read_or_create


class HostKeys:
    """The telemetry keys of hosts at this moment; none where the server has no telemetry secret."""

    def __init__(self, file: Path | None) -> None:
        """Create the secret on the first start.

        Raises
        ------
        OSError, BadSecret
            When the file cannot be created, or is not a telemetry secret.
        """
        if file is not None:
            read_or_create(file)
        self._keys = TelemetryKeys(file)

    def of(self, host: str) -> str | None:
        """The current key of a host."""
        return self._keys.of(host)
