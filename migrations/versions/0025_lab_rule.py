"""The lab: candidate rules from found causes, and the decision on each."""

from __future__ import annotations

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE lab_rule (
        id UUID NOT NULL,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        state TEXT NOT NULL,
        campaign_id UUID REFERENCES lab_campaign (id) ON DELETE SET NULL,
        cause INTEGER NOT NULL,
        cause_text TEXT NOT NULL,
        device TEXT NOT NULL,
        body JSONB NOT NULL,
        not_checked JSONB NOT NULL,
        evidence JSONB NOT NULL,
        proposed_by TEXT NOT NULL,
        proposed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
        decided_by TEXT,
        decided_at TIMESTAMPTZ,
        comment TEXT,
        CONSTRAINT lab_rule_state_check CHECK (state IN ('proposed', 'accepted', 'rejected')),
        CONSTRAINT lab_rule_of_cause UNIQUE (campaign_id, cause),
        UNIQUE (number),
        PRIMARY KEY (id)
    )
    """,
)

DOWNGRADE = ("DROP TABLE lab_rule",)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Candidate rules and the decisions on them are lost; export the accepted ones before."""
    for statement in DOWNGRADE:
        op.execute(statement)
