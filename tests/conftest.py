"""Settings of the whole test run."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# No deadline: a first call that imports or compiles may be slow on any machine.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
