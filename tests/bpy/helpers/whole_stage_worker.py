# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker whose method lets everybody hold their first pose, on everything that the job has: ``ENTRY JOB_FOLDER``.

It is what any method does with a cast, without the cleverness.
"""

import runpy
import sys

import numpy as np

FPS = 60.0


def run_all(self, clip, settings, run):
    """Everybody's bodies on one stage; servos hold the first pose; everything that moved goes home."""
    from sinew.core.body.poses import clip_of_pose, pose_of_clip, targets_of_pose
    from sinew.core.control.cast import load_cast, resample_prop_motions
    from sinew.core.control.character import build_job_body
    from sinew.core.control.staging import build_job_stage
    from sinew.core.motion import Take
    from sinew.core.sim import engines
    from sinew.core.sim.assembly import require_apart
    from sinew.core.sim.engine import character_offsets

    members = load_cast(run)
    clips = [clip, *(member.clip for member in members)]
    bodies = [build_job_body(clip, run)[0], *(build_job_body(member.clip, run, member)[0] for member in members)]
    stage = build_job_stage(run, *bodies)
    poses = [pose_of_clip(body, its)[0][:1] for body, its in zip(bodies, clips, strict=True)]
    qpos = np.concatenate(poses, axis=-1)
    require_apart(stage, qpos[0])
    targets = np.concatenate([targets_of_pose(body, pose) for body, pose in zip(bodies, poses, strict=True)], axis=-1)
    steps = round(clip.duration_s * FPS)
    world = engines.get_engine(run.engine).compile(stage, 1)
    try:
        state = world.state_of(qpos, np.zeros((1, sum(body.nv for body in bodies))))
        states, rows = world.rollout(
            state, np.repeat(targets[:, None], steps, axis=1), substeps=round(1.0 / (FPS * world.dt_s))
        )
        first, played = world.sense(state), np.concatenate([qpos, world.pose_of(states)[0][0]])
    finally:
        world.close()
    where = character_offsets(stage)["nq"]
    motions = [
        clip_of_pose(body, its, played[:, where[index] : where[index + 1]], FPS).resample(clip.fps)
        for index, (body, its) in enumerate(zip(bodies, clips, strict=True))
    ]
    prop_pos = np.concatenate([first.prop_pos[0], rows.prop_pos[0]])
    prop_quat = np.concatenate([first.prop_quat_wxyz[0], rows.prop_quat_wxyz[0]])
    props = resample_prop_motions(stage, prop_pos, prop_quat, FPS, motions[0])
    return Take(motions[0], others=tuple(Take(motion) for motion in motions[1:]), props=props)


if __name__ == "__main__":
    runpy.run_path(sys.argv[1])["load_package"]()
    from sinew.core.control.sampling.method import SamplingMethod
    from sinew.core.jobs import worker

    SamplingMethod.run = run_all
    sys.exit(worker.main(sys.argv[2:]))
