# SPDX-License-Identifier: GPL-3.0-or-later
"""Larger and faster movements."""

import bpy

training = bpy.context.scene.sinew.methods.bounds_train

training.style = "more_energy"
training.strength = 1.0
