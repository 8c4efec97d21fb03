"""What several answers of isolation share. Rates are Mbit/s, delays microseconds."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, PlainSerializer

Seconds = Annotated[float, PlainSerializer(lambda seconds: round(seconds, 1), return_type=float)]
"""A sum of seconds. Answers have tenths: the jitter of intervals and the rounding errors of long sums mean nothing to readers."""
Tenant = Annotated[str | None, Field(description="Kubernetes namespace of the pod that holds the VF; null when unknown")]
Pod = Annotated[str | None, Field(description="Namespace and name of the pod that holds the VF; null when unknown")]
OWNER = "Kind and name of what runs the pod, such as Deployment/trainer, by Kubernetes"
LABELS = "Of the pod, by Kubernetes; empty when Wallwatch may not read pods"
VfNumber = Annotated[int, Field(description="Number of the virtual function on its RNIC")]

StateName = Literal["kept", "broken", "unknown", "not promised"]
"""As `wallwatch.domain.isolation.verdicts.State`; a test compares both."""
MechanismName = Literal["ingress packet rate", "ingress bandwidth", "egress buffer", "pcie", "cpu"]
"""As `wallwatch.domain.isolation.verdicts.Mechanism`; a test compares both."""
Role = Literal["victim", "aggressor", "beyond"]
ROLE = "victim: its promise was broken; aggressor: takes more than its fair share, others suffer; beyond: above its own envelope"


class MechanismSeconds(BaseModel):
    mechanism: MechanismName | None = Field(description="Null: undetermined")
    seconds: Seconds


class Aggressor(BaseModel):
    """A VF that broke promises, with its offered share of what the RNIC can carry."""

    vf: VfNumber
    pod: Pod
    tenant: Tenant
    share: float | None = Field(description="Offered load as a share of the RNIC's capacity; 1 is all of it")
    fair_share: float | None = Field(description="What its weighted fair share is")


class Victim(BaseModel):
    vf: VfNumber
    pod: Pod
    tenant: Tenant
    reason: str = Field(description="Which part of the promise was broken, with the values")
