"""`python -m wallwatch.jobs.compile_stage`: translates the stages of `classify` and `isolation` to machine code, if there is a C compiler.

It takes some 60 s of CPU, and nothing when it was done for this source before. Without a C compiler, or
Python's headers, it says so and leaves everything as it is: the stage then runs as plain Python.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from wallwatch.jobs import compiled_stage

FLAGS = ("-ffp-contract=off",)
"""Python rounds after each operation; some processors would round once after a product and a sum."""


def has_compiler() -> bool:
    """Whether modules of this Python can be compiled here: there is a C compiler, and Python's headers."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(compiler.split()[0]) is not None and Path(sysconfig.get_path("include"), "Python.h").is_file()


def build() -> Path:
    """Compile the modules, unless that was done before; returns their folder. Changes the working directory.

    Raises
    ------
    SystemExit
        When mypyc or the compiler refuses the source; the reason is on standard error.
    """
    compiled = compiled_stage.folder()
    if compiled.is_dir():
        return compiled
    # setuptools first: mypyc takes it only if it is there already. Neither is required by anything that runs.
    import setuptools
    from mypyc.build import mypycify

    compiled.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=compiled.parent, prefix=".building-") as name:
        work = Path(name)
        # Away from where packages are installed, whose sources mypy would not follow.
        shutil.copytree(compiled_stage.SOURCES, work / "wallwatch", ignore=shutil.ignore_patterns("__pycache__"))
        os.chdir(work)
        paths = [f"{module.replace('.', '/')}.py" for module in compiled_stage.MODULES]
        options = ["--explicit-package-bases", "--ignore-missing-imports", "--no-warn-unused-configs", "--config-file="]
        extensions = mypycify([*options, *paths], group_name=compiled_stage.GROUP, opt_level="2", debug_level="0")
        for extension in extensions:
            extension.extra_compile_args = [*extension.extra_compile_args, *FLAGS]
        command = setuptools.Distribution({"name": compiled_stage.GROUP, "ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = "built", "objects"
        command.ensure_finalized()
        command.run()
        done = work / "done"
        done.mkdir()
        for extension in extensions:
            shutil.copyfile(command.get_ext_fullpath(extension.name), done / compiled_stage.file_of(extension.name))
        for former in compiled.parent.glob("[!.]*"):
            shutil.rmtree(former)
        done.rename(compiled)
        os.chdir(compiled.parent)
    return compiled


def main() -> None:
    """Compile, and say where the result is."""
    if not has_compiler():
        sys.stdout.write("there is no C compiler, or Python has no headers: classify and isolation run as plain Python\n")
        return
    sys.stdout.write(f"{build()}\n")


if __name__ == "__main__":
    main()
