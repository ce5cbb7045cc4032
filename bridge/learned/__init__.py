# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned files beside the .blend that refers to them."""
