"""One table of metric families, from which the text, the documentation and the tests are derived."""

from dataclasses import dataclass

from wallwatch.domain.forecast.wall_chance import LIKELY_FROM


@dataclass(frozen=True)
class Family:
    """A gauge with its labels."""

    name: str
    labels: tuple[str, ...]
    help: str


RNIC = ("host", "pci")
INFO = Family(
    "wallwatch_rnic_info",
    (*RNIC, "rack", "model", "driver", "fw_ver"),
    "Always 1: join by host and pci to get rack, model, driver and firmware",
)
SYMPTOM_ACTIVE = Family("wallwatch_rnic_symptom_active", (*RNIC, "symptom"), "1 while the RNIC has the symptom; absent otherwise")
HEADROOM = Family(
    "wallwatch_rnic_headroom_ratio",
    (*RNIC, "wall"),
    "1 - value/limit of a scalability wall: 0 at the limit, negative above it; absent when it could not be measured",
)
WALL_CHANCE = Family(
    "wallwatch_rnic_wall_chance_ratio",
    (*RNIC, "wall"),
    f"Chance of reaching the limit of a wall within the hour, of the wall reached first; 1 at the limit, absent below {LIKELY_FROM}",
)
WALL_IN = Family(
    "wallwatch_rnic_wall_in_seconds",
    (*RNIC, "wall"),
    "Likely time until the RNIC reaches the limit of a wall, of the wall reached first; 0 at the limit, absent when that is not likely",
)
DECLINE = Family("wallwatch_rnic_decline_ratio", RNIC, "Predicted decline of the bandwidth within the hour; absent without one")
LAST_SAMPLE = Family("wallwatch_rnic_last_sample_timestamp_seconds", RNIC, "Event time of the newest sample, seconds since 1970 UTC")
TENANT_BROKEN = Family(
    "wallwatch_tenant_broken_seconds", ("tenant",), "VF-seconds since midnight UTC in which a promise to the tenant's VFs was broken"
)
TENANT_AGGRESSOR = Family(
    "wallwatch_tenant_aggressor_seconds", ("tenant",), "VF-seconds since midnight UTC in which the tenant's VFs broke promises to others"
)
SYMPTOM_RNICS = Family("wallwatch_symptom_rnics", ("symptom",), "RNICs that have the symptom now")
REFUSED = Family(
    "wallwatch_refused_messages",
    ("reason",),
    "Telemetry messages that ingest refused since the installation; wrong_principal: under the name of a host that did not send them",
)
REFUSED_LAST = Family(
    "wallwatch_refused_last_timestamp_seconds",
    ("reason",),
    "When ingest last refused a message for this reason, seconds since 1970 UTC; 0: never",
)
POLICY_VIOLATIONS = Family(
    "wallwatch_policy_violations", ("policy",), "Violations of a policy in the last hour, also by remedies; absent without any"
)
AGENT_SEEN = Family(
    "wallwatch_agent_last_seen_timestamp_seconds", ("host",), "When the agent of a host was last heard, seconds since 1970 UTC; 0: never"
)
CERTIFICATE_EXPIRY = Family(
    "wallwatch_agent_certificate_expiry_timestamp_seconds",
    ("host",),
    "When the newest certificate of a host's agent expires, seconds since 1970 UTC",
)
CERTIFICATE_LATE = Family(
    "wallwatch_agent_certificate_late_timestamp_seconds",
    ("host",),
    "When the renewal of that certificate counts as overdue, seconds since 1970 UTC",
)
INCIDENTS = Family("wallwatch_incidents", ("state", "severity"), "Incidents by state and severity")

FAMILIES = (
    INCIDENTS, REFUSED, REFUSED_LAST, POLICY_VIOLATIONS, SYMPTOM_RNICS, TENANT_BROKEN, TENANT_AGGRESSOR, AGENT_SEEN, CERTIFICATE_EXPIRY,
    CERTIFICATE_LATE, INFO, SYMPTOM_ACTIVE, HEADROOM, WALL_CHANCE, WALL_IN, DECLINE, LAST_SAMPLE,
)  # fmt: skip
