"""The state machines of every context, as the catalogue serves them."""

from wallwatch_backend.fleet.catalogue.schemas import StateMachines
from wallwatch_backend.incidents.states import INCIDENT
from wallwatch_backend.lab.states import CAMPAIGN
from wallwatch_backend.remedies.automation.states import RUN
from wallwatch_backend.remedies.plans.states import PLAN
from wallwatch_backend.remedies.rollouts.states import ROLLOUT
from wallwatch_backend.remedies.states import COMMAND, REMEDY

STATE_MACHINES = StateMachines(
    remedy=list(REMEDY.states),
    command=list(COMMAND.states),
    rollout=list(ROLLOUT.states),
    plan=list(PLAN.states),
    run=list(RUN.states),
    incident=list(INCIDENT.states),
    campaign=list(CAMPAIGN.states),
)
