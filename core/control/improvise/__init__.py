# SPDX-License-Identifier: GPL-3.0-or-later
"""Improvised motion: a character that moves by itself, and learns tasks in a latent space (Won et al. 2022)."""
