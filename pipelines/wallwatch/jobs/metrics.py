"""Prometheus metrics of the jobs."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics, start_http_server

DEAD_LETTERS = Counter("wallwatch_dead_letters", "Messages refused as unusable", ["job", "topic", "reason"])
UNKNOWN_FIELDS = Counter(
    "wallwatch_unknown_fields", "Field values that the registry does not know (the collector is newer than the server)", ["topic"]
)
MESSAGES = Counter("wallwatch_messages", "Messages read from Kafka", ["job", "topic"])
SAMPLES = Counter(
    "wallwatch_samples",
    "What the messages read from Kafka hold: a sample, event, finding or forecast each, or the rows of a block",
    ["job"],
)
ROWS = Counter("wallwatch_rows", "Rows added to a table", ["table"])
ROWS_REPEATED = Counter("wallwatch_rows_repeated", "Rows that the table had already", ["table"])
FLUSH_SECONDS = Histogram(
    "wallwatch_flush_seconds", "Duration of one database transaction of ingest", buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
)
DATABASE_UP = Gauge("wallwatch_database_up", "1 while ingest can write to the database")
LAG = Gauge("wallwatch_lag_messages", "Messages in Kafka that have not been read", ["job"])
STALLED = Counter("wallwatch_stalled_partitions", "Partitions whose messages stayed away, for which the job was started again", ["job"])
FINDINGS = Counter("wallwatch_findings", "Findings written", ["symptom", "state"])
VIOLATIONS = Counter("wallwatch_policy_violations", "Violations of policies that cross hosts", ["policy"])
IGNORED_SAMPLES = Counter(
    "wallwatch_ignored_samples",
    "Input that classify ignored: late samples (older than the window), floods of samples or events, wrong values, and what it failed on",
    ["reason"],
)
WHOLE_FLEET = Gauge(
    "wallwatch_classify_whole_fleet", "1 while this process reads the samples of all hosts: only then is it judged what other RNICs count"
)

BROKEN_SECONDS = Counter("wallwatch_isolation_broken_seconds", "Seconds in which a promise to a VF of an RNIC was broken", ["mechanism"])
ISOLATION_READINGS = Counter(
    "wallwatch_isolation_readings",
    "Readings of an RNIC's traffic: judged, not_judged (the first, a duplicate, a late one, one after a gap), refused",
    ["outcome"],
)
ISOLATION_ODDITIES = Counter(
    "wallwatch_isolation_oddities",
    "What the detector met in readings: duplicates, late, clock_steps, gaps (intervals over 1.5 s); of single VFs or ports: resets, wraps, "
    "impossible (above the line rate), missing",
    ["kind"],
)

FORECASTS = Counter("wallwatch_forecasts", "Forecasts sent, by a trained model or from a cold start", ["kind"])
FORECAST_SECONDS = Histogram(
    "wallwatch_forecast_seconds", "Time to forecast the whole fleet once, from reading to sending", buckets=(0.1, 0.3, 1, 3, 10, 30, 60)
)
FORECAST_LIVE_ERROR = Gauge(
    "wallwatch_forecast_live_error_ratio", "Mean error of a model at 15 minutes over about the last day, as a share of the wall", ["role"]
)
FORECAST_BEYOND = Gauge(
    "wallwatch_forecast_beyond_training_ratio",
    "Share of a model's live errors above the 95th percentile at training; 0.05 is expected",
    ["role"],
)
FORECAST_ERROR_RATIO = Gauge("wallwatch_forecast_error_ratio", "Mean live error of a model divided by its mean error at training", ["role"])
FORECAST_DRIFTED = Gauge(
    "wallwatch_forecast_drifted", "1 while the fleet no longer matches the model's training data: train again", ["role"]
)
FORECAST_UNUSABLE = Gauge("wallwatch_forecast_unusable_models", "Champion or challenger whose file cannot be used")
FUNCTION_ERROR = Histogram(
    "wallwatch_function_prediction_error_ratio",
    "Distance of measured from predicted throughput as a share of it, once per minute while more arrives than the function processes",
    ["function"],
    buckets=(0.01, 0.02, 0.035, 0.05, 0.1, 0.2, 0.5),
)
FORECAST_WORKING = Gauge("wallwatch_forecast_working", "1 in the process that forecasts, 0 in one on standby")

CAMPAIGNS = Counter("wallwatch_lab_campaigns", "Campaigns of the lab that ended", ["state"])
LAB_TESTS = Counter("wallwatch_lab_tests", "Tests and resets that devices under test were sent")
LAB_RUNNING = Gauge("wallwatch_lab_running", "Campaigns that this process runs")


def serve(port: int) -> None:
    """Serve `/metrics` on this port; 0 serves nothing."""
    # A series more for each counter, which nobody reads. The library has no types here.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    if port:
        start_http_server(port)
