# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks for characters with a latent space: one file and one row each (Won et al. 2022, section 5)."""
