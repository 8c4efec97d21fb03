"""The monthly SLO report."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.isolation.schemas import Seconds, Tenant


class ReportRow(BaseModel):
    """A VF and the tenant that held it, or a tenant with all its VFs."""

    tenant: Tenant
    host: str | None = Field(description="Null in a report by tenant")
    pci: str | None
    vf: int | None
    pods: list[str] = Field(description="Pods that held the VF, at most ten; empty in a report by tenant")
    vfs: int = Field(description="VFs that the row counts")
    kept_s: Seconds
    broken_s: Seconds
    unknown_s: Seconds = Field(description="Without evidence, such as gaps; never counted as kept")
    not_promised_s: Seconds
    aggressor_s: Seconds = Field(description="Seconds in which it broke others' promises")
    kept_share: float | None = Field(description="kept / (kept + broken); null without any")
    budget_s: Seconds = Field(description="Error budget: broken seconds that the objective allows, of the kept and broken ones")
    budget_left_s: Seconds = Field(description="Negative: the objective was missed")
    met: bool | None = Field(description="Whether the objective was met; null without any evidence")
    owners: list[str] = Field(
        description="What ran these pods, such as Deployment/trainer, at most ten; empty in a report by tenant, for pods that Kubernetes "
        "did not describe, and 30 days after it last did"
    )


class SloReport(BaseModel):
    month: str = Field(description="YYYY-MM, UTC")
    since: datetime
    until: datetime = Field(description="End of the month, or now while it lasts")
    by: str = Field(description="vf or tenant")
    objective: float = Field(description="Share of seconds to be kept")
    rows: list[ReportRow] = Field(description="Least budget left first")
