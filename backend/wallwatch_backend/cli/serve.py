"""`python -m wallwatch_backend.cli.serve`: the backend's server, the only way it is meant to be started."""

import argparse

from pydantic import ValidationError
from uvicorn import Server
from uvicorn.supervisors import ChangeReload

from wallwatch.setting_errors import wrong_settings
from wallwatch_backend.kit.serving.server import configuration, raise_file_limit
from wallwatch_backend.settings import Settings


def main(arguments: list[str] | None = None) -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m wallwatch_backend.cli.serve", description="Serve the API, the UI and the event stream."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on (default: %(default)s)")
    parser.add_argument(
        "--reload", action="append", metavar="FOLDER", help="for development: restart when a file in it changes; may be repeated"
    )
    given = parser.parse_args(arguments)
    try:
        settings = Settings()
    except ValidationError as error:
        parser.exit(2, "".join(f"{line}\n" for line in wrong_settings(error)))
    raise_file_limit()
    config = configuration(
        "wallwatch_backend.app:create_served_app",
        settings,
        factory=True,
        host=given.host,
        port=given.port,
        reload=bool(given.reload),
        reload_dirs=given.reload,
        reload_includes=["*.yaml"] if given.reload else None,
    )
    if config.should_reload:
        ChangeReload(config, target=Server(config).run, sockets=[config.bind_socket()]).run()
    else:
        Server(config).run()


if __name__ == "__main__":
    main()
