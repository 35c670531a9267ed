"""Node.js, where there is one: page modules run and checked without a browser."""

import os
import shutil
import subprocess

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH: install Node.js 20 or newer")


def node(*arguments, given="", **environment):
    """What Node prints when it is called with these arguments and this input; its complaints where it fails."""
    words = {name: str(value) for name, value in environment.items()}
    call = [NODE, *map(str, arguments)]
    done = subprocess.run(call, input=given, env={**os.environ, **words}, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def ran(script, *arguments, given=""):
    """What a module prints, given as text."""
    return node("--input-type=module", "-e", script, *arguments, given=given)
