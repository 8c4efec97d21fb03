"""Incidents of many findings, silences, saved views, idempotency keys.

Written out in SQL, as revision 0002 is. What an incident knew of its finding moves to the finding's own row.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UPGRADE = (
    "CREATE SEQUENCE incident_change_seq",
    """
    CREATE TABLE silence (
        id UUID NOT NULL,
        kind TEXT NOT NULL,
        matchers JSONB NOT NULL,
        starts_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
        reason TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        updated_by TEXT NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        version INTEGER NOT NULL,
        applied BOOLEAN NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX silence_ends ON silence (ends_at, id)",
    """
    CREATE TABLE saved_view (
        id UUID NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        query TEXT NOT NULL,
        shared BOOLEAN NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX saved_view_name ON saved_view (owner, name)",
    """
    CREATE TABLE idempotent_answer (
        caller TEXT NOT NULL,
        key TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        body JSONB NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        PRIMARY KEY (caller, key)
    )
    """,
    "CREATE INDEX ix_idempotent_answer_created_at ON idempotent_answer (created_at)",
    # An incident may hold several findings of one RNIC, or findings of many: what may not be doubled is a member, not the incident.
    "DROP INDEX incident_one_open",
    "DROP INDEX incident_rnic",
    """
    ALTER TABLE incident
        ADD COLUMN scope TEXT NOT NULL DEFAULT 'rnic',
        ADD COLUMN subject TEXT NOT NULL DEFAULT '',
        ADD COLUMN symptoms TEXT[] NOT NULL DEFAULT '{}',
        ADD COLUMN hosts TEXT[] NOT NULL DEFAULT '{}',
        ADD COLUMN rnics INTEGER NOT NULL DEFAULT 1,
        ADD COLUMN model TEXT,
        ADD COLUMN fw_ver TEXT,
        ADD COLUMN assignee TEXT,
        ADD COLUMN external_refs JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN over_since TIMESTAMP WITH TIME ZONE,
        ADD COLUMN created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        ADD COLUMN suppressed_by UUID,
        ADD COLUMN suppressed_at TIMESTAMP WITH TIME ZONE,
        ADD COLUMN merged_into UUID REFERENCES incident (id) ON DELETE SET NULL,
        ADD COLUMN apart BOOLEAN NOT NULL DEFAULT false,
        ADD COLUMN version INTEGER NOT NULL DEFAULT 1,
        ADD COLUMN seq BIGINT NOT NULL DEFAULT nextval('incident_change_seq')
    """,
    """
    UPDATE incident SET symptoms = ARRAY[symptom], hosts = ARRAY[host], subject = host || ' ' || pci,
        scope = CASE WHEN blast_radius = 'host' THEN 'host' ELSE 'rnic' END,
        over_since = CASE WHEN active THEN NULL ELSE resolved_at END
    """,
    """
    ALTER TABLE incident
        ALTER COLUMN scope DROP DEFAULT,
        ALTER COLUMN subject DROP DEFAULT,
        ALTER COLUMN symptoms DROP DEFAULT,
        ALTER COLUMN hosts DROP DEFAULT,
        ALTER COLUMN rnics DROP DEFAULT,
        ALTER COLUMN external_refs DROP DEFAULT,
        ALTER COLUMN apart DROP DEFAULT,
        ALTER COLUMN version DROP DEFAULT
    """,
    "CREATE INDEX incident_unresolved ON incident (opened_at, id) WHERE state <> 'resolved'",
    "CREATE INDEX incident_over ON incident (over_since) WHERE state <> 'resolved' AND NOT active",
    "CREATE INDEX incident_updated ON incident (updated_at, id)",
    "CREATE INDEX incident_seq ON incident (seq)",
    "CREATE INDEX incident_merged ON incident (merged_into) WHERE merged_into IS NOT NULL",
    "CREATE INDEX incident_alike ON incident (symptom, resolved_at)",
    """
    ALTER TABLE incident_finding
        ADD COLUMN origin_id UUID,
        ADD COLUMN host TEXT NOT NULL DEFAULT '',
        ADD COLUMN pci TEXT NOT NULL DEFAULT '',
        ADD COLUMN rack TEXT NOT NULL DEFAULT '',
        ADD COLUMN model TEXT NOT NULL DEFAULT '',
        ADD COLUMN driver TEXT NOT NULL DEFAULT '',
        ADD COLUMN fw_ver TEXT NOT NULL DEFAULT '',
        ADD COLUMN symptom TEXT NOT NULL DEFAULT '',
        ADD COLUMN cause TEXT,
        ADD COLUMN posterior DOUBLE PRECISION,
        ADD COLUMN severity TEXT NOT NULL DEFAULT 'warning',
        ADD COLUMN blast_radius TEXT NOT NULL DEFAULT 'rnic',
        ADD COLUMN rule TEXT NOT NULL DEFAULT '',
        ADD COLUMN title TEXT NOT NULL DEFAULT '',
        ADD COLUMN summary TEXT NOT NULL DEFAULT '',
        ADD COLUMN explanation TEXT NOT NULL DEFAULT '',
        ADD COLUMN inhibited BOOLEAN NOT NULL DEFAULT false,
        ADD COLUMN evidence JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN hypotheses JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN remedies JSONB NOT NULL DEFAULT '[]'
    """,
    """
    UPDATE incident_finding AS f SET origin_id = i.id, host = i.host, pci = i.pci, rack = COALESCE(i.rack, ''), symptom = i.symptom,
        cause = i.top_cause, severity = i.severity, blast_radius = i.blast_radius, rule = i.rule, title = i.title, summary = i.summary,
        posterior = (SELECT max((h ->> 'posterior')::float8) FROM jsonb_array_elements(i.hypotheses) AS h),
        evidence = i.evidence, hypotheses = i.hypotheses, remedies = i.remedies
    FROM incident AS i WHERE i.id = f.incident_id
    """,
    """
    ALTER TABLE incident_finding
        ALTER COLUMN origin_id SET NOT NULL,
        ALTER COLUMN host DROP DEFAULT,
        ALTER COLUMN pci DROP DEFAULT,
        ALTER COLUMN rack DROP DEFAULT,
        ALTER COLUMN model DROP DEFAULT,
        ALTER COLUMN driver DROP DEFAULT,
        ALTER COLUMN fw_ver DROP DEFAULT,
        ALTER COLUMN symptom DROP DEFAULT,
        ALTER COLUMN severity DROP DEFAULT,
        ALTER COLUMN blast_radius DROP DEFAULT,
        ALTER COLUMN rule DROP DEFAULT,
        ALTER COLUMN title DROP DEFAULT,
        ALTER COLUMN summary DROP DEFAULT,
        ALTER COLUMN explanation DROP DEFAULT,
        ALTER COLUMN inhibited DROP DEFAULT,
        ALTER COLUMN evidence DROP DEFAULT,
        ALTER COLUMN hypotheses DROP DEFAULT,
        ALTER COLUMN remedies DROP DEFAULT
    """,
    "CREATE INDEX incident_finding_rnic ON incident_finding (host, pci, symptom)",
    "CREATE INDEX incident_finding_fleet ON incident_finding (symptom, cause, started_at)",
    "ALTER TABLE incident DROP COLUMN rule, DROP COLUMN evidence, DROP COLUMN hypotheses, DROP COLUMN remedies",
    """
    CREATE TABLE incident_notice (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        event TEXT NOT NULL,
        at TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
)

DOWNGRADE = (
    "DROP TABLE incident_notice",
    """
    ALTER TABLE incident
        ADD COLUMN rule TEXT NOT NULL DEFAULT '',
        ADD COLUMN evidence JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN hypotheses JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN remedies JSONB NOT NULL DEFAULT '[]'
    """,
    """
    UPDATE incident AS i SET rule = f.rule, evidence = f.evidence, hypotheses = f.hypotheses, remedies = f.remedies
    FROM incident_finding AS f WHERE f.finding_id = i.finding_id
    """,
    """
    ALTER TABLE incident
        ALTER COLUMN rule DROP DEFAULT,
        ALTER COLUMN evidence DROP DEFAULT,
        ALTER COLUMN hypotheses DROP DEFAULT,
        ALTER COLUMN remedies DROP DEFAULT
    """,
    "DROP INDEX incident_finding_rnic",
    "DROP INDEX incident_finding_fleet",
    """
    ALTER TABLE incident_finding
        DROP COLUMN origin_id, DROP COLUMN host, DROP COLUMN pci, DROP COLUMN rack, DROP COLUMN model,
        DROP COLUMN driver, DROP COLUMN fw_ver,
        DROP COLUMN symptom, DROP COLUMN cause, DROP COLUMN posterior, DROP COLUMN severity, DROP COLUMN blast_radius, DROP COLUMN rule,
        DROP COLUMN title, DROP COLUMN summary, DROP COLUMN explanation, DROP COLUMN inhibited, DROP COLUMN evidence,
        DROP COLUMN hypotheses,
        DROP COLUMN remedies
    """,
    "DROP INDEX incident_unresolved",
    "DROP INDEX incident_over",
    "DROP INDEX incident_updated",
    "DROP INDEX incident_seq",
    "DROP INDEX incident_merged",
    "DROP INDEX incident_alike",
    # Revision 0002 knows the states open, acknowledged and resolved, and one unresolved incident a symptom of an RNIC.
    "UPDATE incident SET state = 'open' WHERE state IN ('reopened', 'suppressed')",
    """
    UPDATE incident AS i SET state = 'resolved', resolved_at = updated_at, resolved_by = 'wallwatch' WHERE state <> 'resolved' AND EXISTS (
        SELECT FROM incident AS o WHERE (o.host, o.pci, o.symptom) = (i.host, i.pci, i.symptom) AND o.state <> 'resolved' AND o.id < i.id)
    """,
    """
    ALTER TABLE incident
        DROP COLUMN scope, DROP COLUMN subject, DROP COLUMN symptoms, DROP COLUMN hosts, DROP COLUMN rnics, DROP COLUMN model,
        DROP COLUMN fw_ver, DROP COLUMN assignee, DROP COLUMN external_refs, DROP COLUMN over_since, DROP COLUMN created_at,
        DROP COLUMN suppressed_by, DROP COLUMN suppressed_at, DROP COLUMN merged_into, DROP COLUMN apart,
        DROP COLUMN version, DROP COLUMN seq
    """,
    "CREATE UNIQUE INDEX incident_one_open ON incident (host, pci, symptom) WHERE state <> 'resolved'",
    "CREATE INDEX incident_rnic ON incident (host, pci, symptom, resolved_at)",
    "DROP TABLE idempotent_answer",
    "DROP TABLE saved_view",
    "DROP TABLE silence",
    "DROP SEQUENCE incident_change_seq",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
