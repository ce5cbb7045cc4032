# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked example of CONTRIBUTING.md: a family of methods from a library of clips to a learned file and takes."""
