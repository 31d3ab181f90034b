"""The tables of tasks, and of the processes that run them.

The queue has tables of its own in the same database, which DBOS makes. What a row says is so; the queue only wakes.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final

import sqlalchemy as sa

from mrtr_tools.tasks.engine import ENDED, Row

__all__ = ["COLUMNS", "Tables", "row_of"]

COLUMNS: Final = tuple(each.name for each in fields(Row))


class Tables:
    """The tables as SQLAlchemy knows them.

    Args:
        schema: where PostgreSQL keeps them; None for SQLite, which has none.
    """

    def __init__(self, schema: str | None) -> None:
        self.metadata = sa.MetaData(schema=schema)
        self.tasks = tasks = sa.Table(
            "mrtr_tasks",
            self.metadata,
            sa.Column("id", sa.Text, primary_key=True),
            sa.Column("owner", sa.Text, nullable=False),
            sa.Column("status", sa.Text, nullable=False),
            sa.Column("version", sa.BigInteger, nullable=False),
            sa.Column("created", sa.Double, nullable=False),
            sa.Column("updated", sa.Double, nullable=False),
            sa.Column("expires", sa.Double),
            sa.Column("key_id", sa.Text, nullable=False),
            sa.Column("key", sa.LargeBinary, nullable=False),
            sa.Column("data", sa.LargeBinary, nullable=False),
            sa.Column("message", sa.LargeBinary),
            # The one workflow that may run its legs, and the process that last began one.
            sa.Column("workflow", sa.Text),
            sa.Column("runner", sa.Text),
            # How often a leg of this version was begun.
            sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        )
        is_open = tasks.c.status.not_in(sorted(ENDED))
        sa.Index("mrtr_tasks_open", tasks.c.owner, sqlite_where=is_open, postgresql_where=is_open)
        sa.Index("mrtr_tasks_expires", tasks.c.expires)
        sa.Index("mrtr_tasks_key_id", tasks.c.key_id)
        is_working = tasks.c.status == "working"
        sa.Index("mrtr_tasks_working", tasks.c.id, sqlite_where=is_working, postgresql_where=is_working)
        self.processes = sa.Table(
            "mrtr_processes",
            self.metadata,
            sa.Column("id", sa.Text, primary_key=True),
            sa.Column("beat", sa.BigInteger, nullable=False),
        )

        # A file has no schemas, and is for one server: another could open nothing that it finds there.
        self.servers = sa.Table("mrtr_servers", self.metadata, sa.Column("schema", sa.Text, primary_key=True))

    @property
    def columns(self) -> list[sa.Column[object]]:
        """Those that make up a `Row`."""
        return [self.tasks.c[name] for name in COLUMNS]

    def is_task(self, task: str, owner: str) -> sa.ColumnElement[bool]:
        """It is this task, of this owner."""
        return sa.and_(self.tasks.c.id == task, self.tasks.c.owner == owner)

    def is_open(self) -> sa.ColumnElement[bool]:
        """It can change yet."""
        return self.tasks.c.status.not_in(sorted(ENDED))

    def is_there(self, now: float) -> sa.ColumnElement[bool]:
        """It has not expired."""
        return sa.or_(self.tasks.c.expires.is_(None), self.tasks.c.expires > now)


def row_of(found: sa.RowMapping) -> Row:
    """What stands in the database, as a `Row`."""
    return Row(**{name: found[name] for name in COLUMNS})
