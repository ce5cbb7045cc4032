# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether gaits of a body can be learned with symmetry, left as right."""

from ...body import BodyModel
from ...body.mirroring import BodyMirror
from ...errors import RigError
from ...sim.stage_parts import Finding


def find_asymmetry(body: BodyModel) -> Finding | None:
    """Why a body's sides are no mirror images of each other, so that its gaits are learned as they are; or None."""
    try:
        BodyMirror(body)
    except RigError as error:
        return Finding(
            "symmetry",
            f"Walks and runs are learned without symmetry, left and right each by itself: {error.message}",
            "Make the two sides alike in the rest pose, and both sides learn from each other",
        )
    return None
