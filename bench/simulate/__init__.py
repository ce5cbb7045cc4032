# SPDX-License-Identifier: GPL-3.0-or-later
"""What sampling-based control makes of stock clips, recorded motion and pushes."""
