"""Every table that the backend owns, in one metadata (for the migration and for tests)."""

from wallwatch_backend.agents import models as _agents  # noqa: F401
from wallwatch_backend.audit import models as _audit  # noqa: F401
from wallwatch_backend.incidents import models as _incidents  # noqa: F401
from wallwatch_backend.kit.database import Base
from wallwatch_backend.remedies import models as _remedies  # noqa: F401
from wallwatch_backend.session import models as _session  # noqa: F401
from wallwatch_backend.tokens import models as _tokens  # noqa: F401
from wallwatch_backend.users import models as _users  # noqa: F401
from wallwatch_backend.webhooks import models as _webhooks  # noqa: F401

metadata = Base.metadata
