"""Alembic's environment: one history for telemetry and control tables.

Online it connects to WALLWATCH_DATABASE_URL (`postgresql+psycopg://...`). Offline (`alembic upgrade head --sql`) it prints SQL; the
edition of TimescaleDB cannot be asked then, so say it: `alembic -x timescaledb=community upgrade head --sql` (`community` or `apache`).
"""

from __future__ import annotations

from logging.config import fileConfig

from alembic import context
from alembic.util import CommandError
from sqlalchemy import create_engine, pool

from wallwatch.settings import Settings
from wallwatch.store.tables import metadata

if context.config.config_file_name is not None and context.config.attributes.get("configure_logging", True):
    fileConfig(context.config.config_file_name, disable_existing_loggers=False)


def run_offline() -> None:
    edition = context.get_x_argument(as_dictionary=True).get("timescaledb")
    if edition not in ("community", "apache"):
        raise CommandError("offline SQL depends on the TimescaleDB edition: pass -x timescaledb=community or -x timescaledb=apache")
    # Without this style of parameters, every per cent sign of a function's text would be written twice.
    named = {"paramstyle": "named"}
    context.configure(dialect_name="postgresql", target_metadata=metadata, literal_binds=True, dialect_opts=named)
    with context.begin_transaction():
        context.run_migrations()


def run_online() -> None:
    url = context.config.attributes.get("url") or Settings().database_url
    engine = create_engine(url, poolclass=pool.NullPool)
    with engine.connect() as connection:
        context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
        with context.begin_transaction():
            context.run_migrations()


if context.is_offline_mode():
    run_offline()
else:
    run_online()
