# SPDX-License-Identifier: GPL-3.0-or-later
"""Smaller and calmer movements."""

import bpy

training = bpy.context.scene.sinew.methods.bounds_train

training.style = "less_energy"
training.strength = 1.0
