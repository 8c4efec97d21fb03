"""A remedy's two facts, each with a column: its change on the host, and its effect on the incident's symptom, with the effect's samples."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# A remedy that was verified by one of these signals has its change confirmed, and nothing else: they say nothing about a symptom.
UPGRADE = (
    "ALTER TABLE remedy ADD COLUMN change JSONB, ADD COLUMN effect JSONB, ADD COLUMN effect_samples JSONB",
    """
    WITH judged AS (
        SELECT id, verification->>'signal' IN
            ('cordoned', 'in_force', 'vf_max_tx_mbps', 'health_reporters_failed', 'encap_contexts', 'tc_filters_orphaned') AS of_change,
            verification || jsonb_build_object('confirmed_at', CASE WHEN state = 'confirmed' THEN verification->'measured_at' END) AS fact
        FROM remedy WHERE verification IS NOT NULL
    )
    UPDATE remedy SET
        change = CASE WHEN of_change THEN fact END,
        effect = CASE WHEN NOT of_change THEN fact || '{"symptom": null, "before": null}' END,
        state = CASE WHEN state = 'confirmed' AND of_change THEN 'change_confirmed' ELSE state END
    FROM judged WHERE judged.id = remedy.id
    """,
    "ALTER TABLE remedy DROP COLUMN verification",
)

# The samples of effects, and the change of a remedy that also has an effect, are lost.
DOWNGRADE = (
    "ALTER TABLE remedy ADD COLUMN verification JSONB",
    """
    UPDATE remedy SET
        verification = coalesce(effect - ARRAY['symptom', 'before', 'confirmed_at'], change - 'confirmed_at'),
        state = CASE WHEN state = 'change_confirmed' THEN 'confirmed' ELSE state END
    """,
    "ALTER TABLE remedy DROP COLUMN change, DROP COLUMN effect, DROP COLUMN effect_samples",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
