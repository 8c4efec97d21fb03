"""`make faults`: random faults on the demo for an hour, with ledgers at both ends. Is anything lost or doubled?"""

import sys

from wallwatch_local.paths import REPOSITORY

# What the campaign shares with the tests, which find it by pytest's own setting.
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
