# SPDX-License-Identifier: GPL-3.0-or-later
"""The live numbers of any job as small curves, ready to draw."""

from ..bounds import training as bounds_training
from ..bounds import views as bounds_views
from ..graph import learning as graph_learning
from ..graph import views as graph_views
from ..graph.views import LiveCurve, bars
from ..takes.report_texts import measure_text
from .job_views import JobView

_MOST = 3

# Methods whose numbers have words of their own.
_KNOWN = {bounds_training.METHOD: bounds_views.live_curves, graph_learning.METHOD: graph_views.live_curves}


def live_curves(view: JobView) -> tuple[LiveCurve, ...]:
    """What is worth a line of what the job reports; nothing for one that reports no numbers."""
    known = _KNOWN.get(view.method_name)
    if known is not None:
        return known(view)
    reported = [(name, points) for name, points in view.curves if points]
    return tuple(LiveCurve(*measure_text(name, points[-1]), bars(points)) for name, points in reported[:_MOST])
