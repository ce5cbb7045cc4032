# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods: one file or package each, one line each in ``registry``."""
