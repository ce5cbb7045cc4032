# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on a Ray cluster: whole takes on its nodes, rollouts of a training in shards. Only the worker imports Ray."""
