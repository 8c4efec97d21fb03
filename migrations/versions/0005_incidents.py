"""Incidents: their findings, their timeline, notices, silences."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

UPGRADE = (
    "CREATE SEQUENCE incident_change_seq",
    """
    CREATE TABLE incident (
        id UUID NOT NULL,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        rack TEXT,
        symptom TEXT NOT NULL,
        state TEXT NOT NULL,
        severity TEXT NOT NULL,
        blast_radius TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        finding_id UUID NOT NULL,
        active BOOLEAN NOT NULL,
        opened_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        acknowledged_at TIMESTAMPTZ,
        acknowledged_by TEXT,
        resolved_at TIMESTAMPTZ,
        resolved_by TEXT,
        reopened INTEGER NOT NULL,
        top_cause TEXT,
        scope TEXT NOT NULL,
        subject TEXT NOT NULL,
        symptoms TEXT[] NOT NULL,
        hosts TEXT[] NOT NULL,
        rnics INTEGER NOT NULL,
        model TEXT,
        fw_ver TEXT,
        assignee TEXT,
        external_refs JSONB NOT NULL,
        cleared_at TIMESTAMPTZ,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        suppressed_by UUID,
        suppressed_at TIMESTAMPTZ,
        merged_into UUID,
        apart BOOLEAN NOT NULL,
        version INTEGER NOT NULL,
        seq BIGINT DEFAULT nextval('incident_change_seq') NOT NULL,
        inhibited_by UUID,
        PRIMARY KEY (id),
        FOREIGN KEY (merged_into) REFERENCES incident (id) ON DELETE SET NULL
    )
    """,
    "CREATE INDEX incident_alike ON incident (symptom, resolved_at)",
    "CREATE INDEX incident_merged ON incident (merged_into) WHERE merged_into IS NOT NULL",
    "CREATE INDEX incident_opened ON incident (opened_at, id)",
    "CREATE INDEX incident_cleared ON incident (cleared_at) WHERE (state <> 'resolved') AND (NOT active)",
    "CREATE INDEX incident_seq ON incident (seq)",
    "CREATE INDEX incident_unresolved ON incident (opened_at, id) WHERE state <> 'resolved'",
    "CREATE INDEX incident_updated ON incident (updated_at, id)",
    """
    CREATE TABLE incident_finding (
        finding_id UUID NOT NULL,
        incident_id UUID NOT NULL,
        started_at TIMESTAMPTZ NOT NULL,
        last_at TIMESTAMPTZ NOT NULL,
        cleared_at TIMESTAMPTZ,
        origin_id UUID NOT NULL,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        rack TEXT NOT NULL,
        model TEXT NOT NULL,
        driver TEXT NOT NULL,
        fw_ver TEXT NOT NULL,
        symptom TEXT NOT NULL,
        cause TEXT,
        posterior DOUBLE PRECISION,
        severity TEXT NOT NULL,
        blast_radius TEXT NOT NULL,
        rule TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        explanation TEXT NOT NULL,
        inhibited BOOLEAN NOT NULL,
        evidence JSONB NOT NULL,
        hypotheses JSONB NOT NULL,
        remedies JSONB NOT NULL,
        inhibited_by UUID,
        inhibited_at TIMESTAMPTZ,
        PRIMARY KEY (finding_id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX incident_finding_fleet ON incident_finding (symptom, cause, started_at)",
    """
    CREATE INDEX incident_finding_active_inhibited ON incident_finding (started_at, finding_id)
    WHERE (inhibited_by IS NOT NULL) AND inhibited AND (cleared_at IS NULL)
    """,
    """
    CREATE INDEX incident_finding_inhibited ON incident_finding (inhibited_by, incident_id)
    WHERE inhibited_by IS NOT NULL
    """,
    "CREATE INDEX incident_finding_rnic ON incident_finding (host, pci, symptom)",
    "CREATE INDEX ix_incident_finding_incident_id ON incident_finding (incident_id)",
    """
    CREATE TABLE incident_timeline (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        at TIMESTAMPTZ DEFAULT now() NOT NULL,
        kind TEXT NOT NULL,
        actor TEXT NOT NULL,
        text TEXT NOT NULL,
        data JSONB NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_incident_timeline_incident_id ON incident_timeline (incident_id)",
    """
    CREATE TABLE incident_notice (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        event TEXT NOT NULL,
        at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE silence (
        id UUID NOT NULL,
        kind TEXT NOT NULL,
        matchers JSONB NOT NULL,
        starts_at TIMESTAMPTZ NOT NULL,
        ends_at TIMESTAMPTZ NOT NULL,
        reason TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        updated_by TEXT NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        version INTEGER NOT NULL,
        applied BOOLEAN NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX silence_ends ON silence (ends_at, id)",
)

DOWNGRADE = (
    "DROP TABLE silence",
    "DROP TABLE incident_notice",
    "DROP TABLE incident_timeline",
    "DROP TABLE incident_finding",
    "DROP TABLE incident",
    "DROP SEQUENCE incident_change_seq",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
