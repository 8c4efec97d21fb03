"""Column types that every table uses."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID, uuid4

from sqlalchemy import DateTime, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import mapped_column

Id = Annotated[UUID, mapped_column(PgUuid(as_uuid=True), primary_key=True, default=uuid4)]
Ref = Annotated[UUID, mapped_column(PgUuid(as_uuid=True))]
At = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Created = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=text("now()"))]
Json = Annotated[dict[str, Any], mapped_column(JSONB)]
JsonList = Annotated[list[dict[str, Any]], mapped_column(JSONB)]
