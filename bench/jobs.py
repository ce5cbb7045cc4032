# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job costs besides its work: from the click to the take, and a look at its state."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..core import jobs
from ..core.motion.io import stock


def measure() -> dict[str, Any]:
    """Median seconds of five jobs that do nothing, and microseconds of a status query while one runs."""
    clip = stock.load_stock("walk")
    create_s, whole_s = [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for i in range(5):
            begin = time.perf_counter()
            job = jobs.create(clip, method="passthrough", settings={}, folder=Path(folder) / str(i))
            create_s.append(time.perf_counter() - begin)
            jobs.wait(job, jobs.launch(job), poll_s=0.005)
            job.result()
            whole_s.append(time.perf_counter() - begin)
        slow = {"pause_s": 0.02, "chunk_frames": 1}
        job = jobs.create(clip, method="passthrough", settings=slow, folder=Path(folder) / "slow")
        process = jobs.launch(job)
        query_s = []
        while not job.status().finished:
            begin = time.perf_counter()
            job.status()
            query_s.append(time.perf_counter() - begin)
            time.sleep(0.01)
        process.wait()
    return {
        "create_s": float(np.median(create_s)),
        "click_to_take_s": float(np.median(whole_s)),
        "status_us": 1e6 * float(np.median(query_s)),
        "status_us_worst": 1e6 * float(np.max(query_s)),
    }
