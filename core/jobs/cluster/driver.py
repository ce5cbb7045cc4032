# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker where jobs are done on a cluster: it holds their locks and writes their events; Ray does the rest."""

import logging
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from ...errors import SinewError
from ..job import Job
from ..where import Where
from .connection import Cluster
from .ray_shards import RayShards
from .take_relay import RelayedJob, relay_jobs

_log = logging.getLogger(__name__)


def run_on_cluster(found: Sequence[RelayedJob], where: Where) -> None:
    """Have jobs done whose runs have begun; each gets its last event, whatever happens."""
    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(Cluster(where))
            _log.info("On the cluster at %s with %d cores", cluster.address, sum(cluster.count_cores()))
        except SinewError as error:
            _log.exception("No cluster")
            for one in found:
                one.fail(error)
            return
        whole = [one for one in found if not learns_in_shards(one.job)]
        if whole:
            relay_jobs(cluster, whole)
        for one in found:
            if one not in whole:
                _train(one, cluster)
        if cluster.is_gone:
            _leave_at_once()


def learns_in_shards(job: Job) -> bool:
    """Whether only its rollouts go to the nodes, and it learns here."""
    return job.method.rollouts_in_shards


def _train(one: RelayedJob, cluster: Cluster) -> None:
    from ..worker import run_to_last_event

    run_to_last_event(one.job, one.number, RayShards(cluster, one))


def _leave_at_once() -> None:
    """End this process: Ray's own end would wait for a cluster that is gone."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(1)
