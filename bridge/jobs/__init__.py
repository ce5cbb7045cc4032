# SPDX-License-Identifier: GPL-3.0-or-later
"""From a click to a job's folder, and from its result to new Actions."""
