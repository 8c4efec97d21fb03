"""The permission `lab:run`: who starts, approves and stops campaigns of the lab. Every endpoint that does asks here."""

from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.problems import Forbidden
from wallwatch_backend.lab.models import DeviceRow
from wallwatch_backend.settings import Settings

NAME = "lab:run"


def is_of_fleet(device: DeviceRow | None) -> bool:
    """Whether a device is an RNIC of a host of the fleet, with whatever else uses it."""
    return device is not None and device.host is not None and device.pci is not None


def role_for(settings: Settings, device: DeviceRow | None = None) -> Role:
    """The least role that has `lab:run`: on an RNIC of the fleet always admin, elsewhere what `WALLWATCH_LAB_RUN_ROLE` says."""
    return Role.admin if is_of_fleet(device) else Role(settings.lab_run_role)


def needs_approval(settings: Settings, device: DeviceRow) -> bool:
    """Whether a second person must approve a campaign: it is an action of high risk on an RNIC of the fleet."""
    return is_of_fleet(device) and settings.remedy_approval_risk != "never"


def require(settings: Settings, caller: Caller, device: DeviceRow | None = None) -> None:
    """Check `lab:run` for campaigns on a device; without one, for what concerns no device in particular, such as stopping.

    Raises
    ------
    Forbidden
        When the caller's role does not have the permission.
    """
    role = role_for(settings, device)
    if caller.role.covers(role):
        return
    if device is not None and is_of_fleet(device):
        raise Forbidden(f"{device.name} is an RNIC of the fleet ({device.host} {device.pci}): {NAME} on it requires the role {role}.")
    raise Forbidden(f"This requires the permission {NAME}, which the role {role} has here; you have {caller.role}.")
