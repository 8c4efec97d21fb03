"""Seconds of isolation by hour: of each VF (days are summed from hours), and of each tenant.

The Apache edition keeps its days, and `ingest` computes hours from the minutes that are there. The Community edition cannot move a
continuous aggregate to another source: its days are computed again from the minutes, which are kept for seven days.
"""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, aggregate_statements, drop_statements, edition_of
from wallwatch.store.rollups import TENANT_1M, TENANT_HOUR, VF_DAY, VF_HOUR, Rollup

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

NEW = (TENANT_1M, TENANT_HOUR, VF_HOUR)

VF_DAY_BEFORE = Rollup(
    view="vf_day", table="vf_day_rollup", source="vf_minute", aggregates=VF_DAY.aggregates, width="1 day", keys=VF_DAY.keys
)


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def _change_days(edition: Edition, old: Rollup, new: Rollup) -> None:
    if edition is Edition.COMMUNITY:
        for statement in (*drop_statements(old, edition), *aggregate_statements(new, edition)):
            op.execute(statement)
        return
    # The table stays with its rows; a day is removed and read as a whole, so the day leads the key.
    op.execute("ALTER TABLE vf_day_rollup DROP CONSTRAINT vf_day_rollup_pkey")
    op.execute(f"ALTER TABLE vf_day_rollup ADD PRIMARY KEY ({', '.join(new.identity)})")


def upgrade() -> None:
    edition = _edition()
    for rollup in NEW:
        for statement in aggregate_statements(rollup, edition):
            op.execute(statement)
    _change_days(edition, VF_DAY_BEFORE, VF_DAY)


def downgrade() -> None:
    """Hours are lost, and can be computed again from minutes that are still kept."""
    edition = _edition()
    _change_days(edition, VF_DAY, VF_DAY_BEFORE)
    for rollup in reversed(NEW):
        for statement in drop_statements(rollup, edition):
            op.execute(statement)
