from wallwatch_backend.kit.problems import WallwatchError


class NameTaken(WallwatchError):
    status, code, title = 409, "name_taken", "There is an account of this name"


class LastAdmin(WallwatchError):
    status, code, title = 409, "last_admin", "This is the last administrator who can sign in"
