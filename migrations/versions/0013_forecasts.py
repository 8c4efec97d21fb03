"""Forecasts: those that were made, the newest of each RNIC, and the models that made them."""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of, lifecycle_statements
from wallwatch.store.tables import HYPERTABLES, metadata

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = ("forecast", "rnic_forecast", "forecast_model")


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def upgrade() -> None:
    for name in TABLES:
        metadata.tables[name].create(op.get_bind())
    interval = HYPERTABLES["forecast"]
    op.execute(f"SELECT create_hypertable('forecast', by_range('time', INTERVAL '{interval}'), create_default_indexes => false)")
    for statement in lifecycle_statements(_edition(), ["forecast"]):
        op.execute(statement)


def downgrade() -> None:
    for name in reversed(TABLES):
        op.execute(f"DROP TABLE {name}")
