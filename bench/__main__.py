# SPDX-License-Identifier: GPL-3.0-or-later
"""``./sinew bench …``: the command line with one more verb, which is not shipped."""

import runpy
from pathlib import Path

if __name__ == "__main__":
    command_line = Path(__file__).resolve().parents[1] / "bridge" / "cli" / "__main__.py"
    runpy.run_path(str(command_line))["run_script"](__file__, bench="sinew.bench.command")
