# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage and the engines that move it."""
