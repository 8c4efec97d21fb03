"""SLO classes and rules, as people write them: Mbit/s and microseconds."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from wallwatch_backend.isolation.schemas import Pod, Tenant, VfNumber
from wallwatch_backend.isolation.vfs.schemas import Promise
from wallwatch_backend.kit.matchers import Condition
from wallwatch_backend.kit.text import StorableText

ClassName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$", max_length=63)]
"""A Kubernetes label value in lower case: the CNI configuration names classes."""
Description = Annotated[str, StringConstraints(max_length=1000, strip_whitespace=True), StorableText]
Mbps = Annotated[float, Field(ge=0, le=10_000_000, allow_inf_nan=False, strict=True)]
Microseconds = Annotated[float, Field(gt=0, le=60_000_000, allow_inf_nan=False, strict=True)]


class SloValues(BaseModel):
    """A promise: a bandwidth envelope for each direction, and bounds of delay and loss. Null promises nothing."""

    model_config = ConfigDict(extra="forbid")

    min_mbps: Mbps = Field(description="Bandwidth that the VF always gets when it asks for it")
    max_mbps: Annotated[Mbps, Field(gt=0)] = Field(description="Above it, the VF is beyond its envelope, and nothing is promised")
    p50_us: Microseconds | None = None
    p99_us: Microseconds | None = None
    loss: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] | None = Field(default=None, description="Share of packets")
    description: Description = ""

    @model_validator(mode="after")
    def _ordered(self) -> "SloValues":
        if self.min_mbps > self.max_mbps:
            raise ValueError("min_mbps must be at most max_mbps")
        if self.p50_us is not None and self.p99_us is not None and self.p50_us > self.p99_us:
            raise ValueError("p50_us must be at most p99_us")
        return self


class NewSloClass(SloValues):
    name: ClassName


class SloClass(SloValues):
    model_config = ConfigDict(extra="ignore")

    name: str
    rules: int = Field(description="Rules that assign it")
    version: int
    updated_at: datetime
    updated_by: str


class VfMatcher(Condition):
    """One condition on a VF."""

    name: Literal["host", "pci", "vf", "namespace", "pod", "model", "rack"] = Field(
        description="`vf` is the number; `pod` the name without its namespace; `namespace` is the tenant"
    )


VfMatchers = Annotated[list[VfMatcher], Field(max_length=20, description="All must match; an empty list matches every VF")]


class SloRule(BaseModel):
    """Assigns a class to the VFs that its matchers select; of several rules, the first that matches counts."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    matchers: VfMatchers
    slo_class: ClassName = Field(description="Name of an SLO class")


class SloRules(BaseModel):
    """The whole ordered list."""

    rules: list[SloRule] = Field(max_length=500, description="In order: the first that matches a VF assigns its class")


class StoredSloRules(SloRules):
    version: int
    updated_at: datetime | None = Field(description="Null: never changed")
    updated_by: str | None


class PreviewedVf(BaseModel):
    host: str
    pci: str
    vf: VfNumber
    pod: Pod
    tenant: Tenant
    slo: Promise | None
    before: str | None = Field(description="Class that it has now; null for none, or an SLO of its CNI configuration")


class RefusedRnic(BaseModel):
    host: str
    pci: str
    sum_min_mbps: float
    port_mbps: float


class SloPreview(BaseModel):
    vfs: list[PreviewedVf] = Field(
        description="A page of the VFs by host, PCI address and number; those whose promise changes come first in the list"
    )
    vfs_total: int
    matched: int = Field(description="VFs that would have a promise, by a rule or by their CNI configuration")
    changed: int = Field(description="VFs whose promise would change")
    refused: list[RefusedRnic] = Field(
        description="RNICs whose minima would exceed the link, at most 1,000: with any of these, the rules are refused"
    )
    refused_total: int = Field(description="How many RNICs that concerns")
