# SPDX-License-Identifier: GPL-3.0-or-later
"""The teacher (section 5): a policy that moves through a library's frames, in a search that tables prune."""
