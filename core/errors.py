# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors that are meant for people: each names the thing and the fix.

Only a ``SinewError`` becomes a message in the interface or a one-line error on the command line.
Anything else is a bug and keeps its traceback in the log.
"""

from .texts import LONGEST, one_line


class SinewError(Exception):
    """What went wrong, naming the thing, and ``hint``: what the user can do about it.

    Both are one line each, whatever the names in them hold.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = one_line(message, LONGEST)
        self.hint = one_line(hint, LONGEST)
        super().__init__(self.message, self.hint)

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return f"{self.message.rstrip('.')}. {self.hint}"


def not_enough_memory(what: str = "It") -> SinewError:
    """Memory that is at its end, whatever was to be done with it."""
    return SinewError(f"{what} takes more memory than there is", "Take less at once, or close other programs")


class BadMotion(SinewError):
    """A skeleton or clip whose numbers cannot be a motion."""


class BadFile(SinewError):
    """A file that is missing, torn, or not what its name says."""


class CannotWrite(SinewError):
    """A file or folder that cannot be written."""


class BadSettings(SinewError):
    """A setting that does not exist, has the wrong type or is out of range."""


class UnknownMethod(SinewError):
    """A method name that is not in the registry."""


class EngineMissing(SinewError):
    """A physics engine that is unknown or not installed for the worker's Python."""


class LearningMissing(SinewError):
    """What training needs is not installed for the worker's Python."""


class LearningFailed(SinewError):
    """A training that cannot go on, or that cannot begin with these settings."""


class ClusterError(SinewError):
    """A cluster that cannot be reached, that is gone, or whose nodes cannot do the work."""


class JobError(SinewError):
    """A job that cannot be started, read, resumed or collected."""


class OtherJob(JobError):
    """A folder that holds another job than the one that is wanted."""


class BadStage(SinewError):
    """Something on the stage that cannot be simulated as it stands."""


class NotLearned(SinewError):
    """An armature that has no learned file of a kind yet, or one that does not fit what it is to do."""


class RigError(SinewError):
    """An armature or Action that cannot be read or written as it stands."""


class GraphError(SinewError):
    """Skills or transitions that cannot be a graph, or a graph in which somebody would be stuck."""


class BoundsError(SinewError):
    """Spacetime bounds that nothing could be learned within, or a controller that does not fit what it is to do."""
