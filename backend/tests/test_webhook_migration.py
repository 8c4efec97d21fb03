"""Webhooks that exist when routing comes go on as they were."""

from uuid import uuid4

import psycopg
from alembic import command
from alembic.config import Config

from wallwatch_local.paths import REPOSITORY


def test_webhooks_and_deliveries_from_before_are_kept_by_the_upgrade_and_the_way_back(postgres_url: str) -> None:
    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes.update(url=postgres_url, configure_logging=False)
    command.upgrade(config, "0006")
    hook = uuid4()
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO webhook (id, name, url, events, secret, enabled, created_by) "
            "VALUES (%s, 'old', 'http://x', '{incident.opened}', '', true, 'a')",
            [hook],
        )
        for _ in range(2):
            connection.execute(
                "INSERT INTO webhook_delivery (id, webhook_id, event, body, state, attempt_count) "
                "VALUES (%s, %s, 'incident.opened', '{}', 'pending', 0)",
                [uuid4(), hook],
            )
        command.upgrade(config, "0007")
        shown = connection.execute(
            "SELECT format, matchers, group_by, group_wait_s, group_interval_s, repeat_interval_s FROM webhook"
        ).fetchall()
        assert shown == [("native", [], [], 0, 0, None)]
        # None of them waits for another: their order was never known.
        assert connection.execute("SELECT count(DISTINCT subject), count(DISTINCT seq) FROM webhook_delivery").fetchall() == [(2, 2)]
        command.downgrade(config, "0006")
        assert connection.execute("SELECT count(*) FROM webhook_delivery").fetchall() == [(2,)]
