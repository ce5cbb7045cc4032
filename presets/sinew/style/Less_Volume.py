# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs held in."""

import bpy

training = bpy.context.scene.sinew.methods.bounds_train

training.style = "less_volume"
training.strength = 1.0
