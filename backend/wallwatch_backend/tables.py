"""Every table that the backend owns, in one metadata (for the migration and for tests)."""

# ruff: noqa: F401 - a module of models adds its tables to the metadata when it is imported

from wallwatch_backend.accounts.audit import models as _audit
from wallwatch_backend.accounts.tokens import models as _tokens
from wallwatch_backend.accounts.users import models as _users
from wallwatch_backend.accounts.views import models as _views
from wallwatch_backend.captures import models as _captures
from wallwatch_backend.contention.models import models as _contention
from wallwatch_backend.fleet.profiles import models as _profiles
from wallwatch_backend.fleet.rnics import models as _rnics
from wallwatch_backend.hosts.agents import models as _agents
from wallwatch_backend.hosts.certificates import models as _certificates
from wallwatch_backend.hosts.command_keys import models as _command_keys
from wallwatch_backend.hosts.enrolment import models as _enrolment
from wallwatch_backend.hosts.kubernetes import models as _kubernetes
from wallwatch_backend.hosts.kubernetes import reports as _reports
from wallwatch_backend.incidents import models as _incidents
from wallwatch_backend.incidents.silences import models as _silences
from wallwatch_backend.isolation.slo import models as _slo
from wallwatch_backend.kit import idempotency as _idempotency
from wallwatch_backend.kit.database import Base
from wallwatch_backend.lab import models as _lab
from wallwatch_backend.lab.rules import models as _lab_rules
from wallwatch_backend.notify import models as _webhooks
from wallwatch_backend.policies.registry import models as _policies
from wallwatch_backend.remedies import models as _remedies
from wallwatch_backend.remedies.automation import models as _automation
from wallwatch_backend.remedies.control import models as _control
from wallwatch_backend.remedies.plans import models as _plans
from wallwatch_backend.remedies.rollouts import models as _rollouts

metadata = Base.metadata
