# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions, frames and finite differences on arrays."""
