"""Every table that the backend owns, in one metadata (for the migration and for tests)."""

# ruff: noqa: F401 - a module of models adds its tables to the metadata when it is imported

from wallwatch_backend.agents import models as _agents
from wallwatch_backend.audit import models as _audit
from wallwatch_backend.automation import models as _automation
from wallwatch_backend.certificates import models as _certificates
from wallwatch_backend.command_keys import models as _command_keys
from wallwatch_backend.control import models as _control
from wallwatch_backend.incidents import models as _incidents
from wallwatch_backend.kit import idempotency as _idempotency
from wallwatch_backend.kit.database import Base
from wallwatch_backend.plans import models as _plans
from wallwatch_backend.policies import models as _policies
from wallwatch_backend.profiles import models as _profiles
from wallwatch_backend.remedies import models as _remedies
from wallwatch_backend.rollouts import models as _rollouts
from wallwatch_backend.session import models as _session
from wallwatch_backend.silences import models as _silences
from wallwatch_backend.tokens import models as _tokens
from wallwatch_backend.users import models as _users
from wallwatch_backend.views import models as _views
from wallwatch_backend.webhooks import models as _webhooks

metadata = Base.metadata
