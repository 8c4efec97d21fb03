"""The migrations and the models describe the same tables."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from wallwatch_backend.tables import metadata


def test_the_migrations_create_the_tables_of_the_models(migrated_url: str) -> None:
    engine = create_engine(migrated_url, poolclass=NullPool)

    def ours(obj: object, name: str | None, kind: str, reflected: bool, compare_to: object) -> bool:
        return kind != "table" or name in metadata.tables

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_object": ours})
        differences = compare_metadata(context, metadata)
    engine.dispose()
    assert differences == []
