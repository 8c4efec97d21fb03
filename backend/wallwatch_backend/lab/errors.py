"""Why a campaign is not started, or its result not used."""

from wallwatch_backend.kit.problems import InvalidInput, WallwatchError


class DeviceUnknown(InvalidInput):
    code, title = "lab_device_unknown", "No runner offers this device"


class DeviceUnusable(WallwatchError):
    status, code, title = 409, "lab_device_unusable", "The device cannot be tested now"


class ParameterUnknown(InvalidInput):
    code, title = "lab_parameter_unknown", "The device has no such parameter or target"


class NotCordoned(WallwatchError):
    status, code, title = 409, "rnic_not_cordoned", "Only a cordoned RNIC is tested"


class NotPending(WallwatchError):
    status, code, title = 409, "lab_campaign_not_pending", "The campaign does not wait for approval"


class CampaignOver(WallwatchError):
    status, code, title = 409, "lab_campaign_over", "The campaign is over"


class NoReport(WallwatchError):
    status, code, title = 409, "lab_no_report", "The campaign has no report yet"


class NothingMeasured(WallwatchError):
    status, code, title = 409, "lab_nothing_measured", "The campaign measured nothing that a profile holds"
