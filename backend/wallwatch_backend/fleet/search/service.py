"""Search over the fleet by parts of names."""

from datetime import timedelta

from wallwatch_backend.fleet.search import repository
from wallwatch_backend.fleet.search.schemas import Found, FoundHost, FoundPod, FoundRnic
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

MOST_WORDS = 6
_PODS_FOR = timedelta(days=1)


def words_of(text: str) -> list[str]:
    """The words that must all occur.

    >>> words_of("  host36  3b:00.0 ")
    ['host36', '3b:00.0']
    """
    return text.split()[:MOST_WORDS]


async def find(session: ReadSession, text: str, limit: int) -> Found:
    words = words_of(text)
    hosts = await repository.hosts(session, words, limit)
    rnics = await repository.rnics(session, words, limit)
    pods = await repository.pods(session, words, clock.now() - _PODS_FOR, limit)
    return Found(
        hosts=[
            FoundHost(host=row.host, rack=row.rack or None, rnics=row.rnics, zone=row.zone, instance_type=row.instance_type)
            for row in hosts
        ],
        rnics=[FoundRnic(host=row.host, pci=row.pci, rack=row.rack or None, model=row.model, symptoms=row.symptoms) for row in rnics],
        pods=[
            FoundPod(
                pod=row.pod,
                owner=row.owner,
                container=row.container,
                host=row.host,
                pci=row.pci or None,
                device=row.device,
                attached_at=row.attached_at,
            )
            for row in pods
        ],
    )
