# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream is drawn along by the body that follows it: one that lags behind has not fallen, and need not run after it.

Characters are told of as if their stream had stayed where it is: what moves is where they seem to be on it.
"""

import numpy as np

from ...geometry.quaternions import Array
from .observations import TrackingState
from .reference_streams import CONTROL_FPS, DRAWN_SHARE

# Who is pushed off its path is not to stay far from a stream that hardly comes after it: it would count as fallen while
# it stands. What is further away than this draws its stream along by so much more.
_FAR_M, _FAR_SHARE = 0.3, 0.2
BACK_M_S, PRACTISED_BACK_M_S = 0.6, 0.1
"""At which a stream that was drawn away goes back to where it was to be: in takes, and while a policy practises."""


def draw_along(state: TrackingState, drawn: Array, back_m_s: float = BACK_M_S) -> Array:
    """(N, 2) metres by which streams move in this control step, that were drawn away by so much (N, 2) already."""
    apart = np.nan_to_num(state.com[:, :2] - state.streams.com[state.frame, :2])
    far = np.linalg.norm(drawn, axis=-1, keepdims=True)
    back = drawn * (np.minimum(far, back_m_s / CONTROL_FPS) / np.maximum(far, 1e-9))
    share = state.streams.drawn_share
    if share < DRAWN_SHARE:
        away = np.linalg.norm(apart, axis=-1, keepdims=True)
        share = share + _FAR_SHARE * (np.maximum(away - _FAR_M, 0.0) / np.maximum(away, 1e-9))
    return np.asarray(share * apart - back)
