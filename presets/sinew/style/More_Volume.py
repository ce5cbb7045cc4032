# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs spread out."""

import bpy

training = bpy.context.scene.sinew.methods.bounds_train

training.style = "more_volume"
training.strength = 1.0
