"""Which topics `ingest` and `classify` read."""

from wallwatch.domain.symptoms.host_stage import MEASUREMENTS
from wallwatch.domain.telemetry.registry import measurements, topics
from wallwatch.jobs.ingest_batch import TELEMETRY_TOPICS


def test_what_only_a_job_reads_is_a_topic_that_ingest_and_classify_leave_alone() -> None:
    assert measurements()["vf_traffic"].topic in topics()
    assert measurements()["vf_traffic"].topic not in TELEMETRY_TOPICS
    assert "vf_traffic" not in MEASUREMENTS


def test_ingest_reads_every_measurement_that_has_a_hypertable() -> None:
    assert set(TELEMETRY_TOPICS.values()) == {m.name for m in measurements().values() if m.hypertable is not None}
