# SPDX-License-Identifier: GPL-3.0-or-later
"""Rolling out a learned graph: plans, falls and getting up, and takes of it."""
