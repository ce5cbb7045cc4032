# SPDX-License-Identifier: GPL-3.0-or-later
"""Reinforcement and supervised learning: PPO, behaviour cloning, a motion autoencoder. The only room that knows torch.

Nothing here imports torch before something is trained, so that an environment can be described without it.
"""
