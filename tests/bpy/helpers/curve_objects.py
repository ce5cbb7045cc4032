# SPDX-License-Identifier: GPL-3.0-or-later
"""Curve objects made by hand."""

import bpy


def poly(name, points, closed=False, kind="POLY"):
    """A curve through points, in the scene."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    spline.use_cyclic_u = closed
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj
