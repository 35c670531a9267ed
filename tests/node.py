"""Node.js, where there is one: page modules run and checked without a browser."""

import shutil

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH: install Node.js 20 or newer")
