# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning by trial: policies that get better at what an environment rewards. The only room that knows torch.

Nothing here imports torch before it is asked to learn, so that whoever only describes an environment can do without.
"""
