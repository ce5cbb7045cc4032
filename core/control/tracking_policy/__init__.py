# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy that keeps directed motion on its feet (DReCon, section 6)."""
