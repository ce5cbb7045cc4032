# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances between the moments of two skills, as candidates are found by them."""

from sinew.core.control.graph.transitions.distances import point_cloud_distances, point_clouds_of


def skill_distances(body, source, target):
    """(S, T) metres between the fragment boundaries of two skills; the last one of a cycle is its first again."""
    return point_cloud_distances(point_clouds_of(body, source), point_clouds_of(body, target))
