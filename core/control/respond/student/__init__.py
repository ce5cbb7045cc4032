# SPDX-License-Identifier: GPL-3.0-or-later
"""The student (section 6.2): a recurrent network that does what it is asked for in time, without the library."""
