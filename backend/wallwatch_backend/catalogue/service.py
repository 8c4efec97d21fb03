"""The catalogue, from the domain's YAML; it does not change while the process runs."""

from functools import cache

from wallwatch.domain.catalogue import load
from wallwatch.domain.telemetry.registry import measurements
from wallwatch_backend.catalogue.schemas import Catalogue, CauseInfo, FieldInfo, SymptomInfo, WallInfo


@cache
def get_catalogue() -> Catalogue:
    return Catalogue(
        symptoms=[SymptomInfo(id=s.id, title=s.title, layer=s.layer, ratio=s.ratio, cause=s.cause) for s in load.symptoms().values()],
        causes=[
            CauseInfo(id=c.id, title=c.title, prior=c.prior, statement=c.statement, next_test=c.next_test) for c in load.causes().values()
        ],
        walls=[WallInfo(id=w.id, label=w.label, unit=w.unit, leads_to=list(w.leads_to)) for w in load.walls().values()],
        models=list(load.profiles()),
        fields=[
            FieldInfo(name=f.name, measurement=m.name, label=f.label, unit=f.unit, kind=f.kind, meaning=f.meaning)
            for m in measurements().values()
            for f in m.fields.values()
        ],
    )
