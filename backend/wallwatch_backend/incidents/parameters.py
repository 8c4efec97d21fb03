"""Path parameters and declared errors that the endpoints of incidents share."""

from typing import Annotated
from uuid import UUID

from fastapi import Path

from wallwatch_backend.incidents import errors
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS
from wallwatch_backend.kit.etags import VersionMismatch
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused

IncidentId = Annotated[UUID, Path()]

GET_RESPONSES = problems.responses(*READ_ERRORS, problems.NotFound)
CHANGE_ERRORS = (*WRITE_ERRORS, problems.NotFound, VersionMismatch, errors.MergedAway)
POST_ERRORS = (*CHANGE_ERRORS, IdempotencyKeyReused)
