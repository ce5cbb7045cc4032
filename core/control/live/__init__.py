# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: characters that are simulated while somebody has hold of them, and takes of what was done to them."""
