"""What an upload, or a question about a capture, may be refused for."""

from wallwatch_backend.kit.problems import WallwatchError


class CaptureTooLarge(WallwatchError):
    status, code, title = 413, "capture_too_large", "The file is larger than this server accepts"


class NotACapture(WallwatchError):
    status, code, title = 422, "not_a_capture", "The file is no pcap or pcapng capture"


class UploadBrokeOff(WallwatchError):
    status, code, title = 400, "upload_broke_off", "The connection ended before the file did"


class CaptureOptionInvalid(WallwatchError):
    status, code, title = 422, "capture_option_invalid", "An option of the analysis is invalid"


class TooManyUploads(WallwatchError):
    status, code, title = 429, "too_many_uploads", "Too many captures are being uploaded or analysed"


class NotAnalysed(WallwatchError):
    status, code, title = 409, "capture_not_analysed", "The analysis of this capture is not done"


class ModelUnknown(WallwatchError):
    status, code, title = 422, "transport_model_unknown", "The catalogue has no figures of this RNIC model"
