# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs of any family of methods, by what it declares: families with words of their own have verbs of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.control import registry
from ...core.control.method import Method, Product
from ...core.errors import BadSettings
from ..body.body_inputs import BodyRequest
from ..jobs.preparing import do_at_once
from ..methods.job_inputs import BakeRequest, LearnRequest, bake_job, learn_job
from .characters import Who, character
from .playing import File, read_learned
from .simulating import check_settings
from .work import Work


def learn_family(
    family: str,
    who: Who = None,
    actions: Sequence[str] = (),
    *,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let a family of methods learn from a character's Actions. actions: names or patterns, none for all."""
    method = _method(family, Product.LEARNED_FILE)
    meant = character(who)
    request = LearnRequest(
        meant.armature,
        check_settings(method.name, settings),
        engine,
        seed,
        meant.scale,
        body=body,
        actions=tuple(actions),
    )
    return Work(do_at_once(lambda own: learn_job(own, method, request, folder)))


def play_family(
    family: str,
    file: File,
    who: Who = None,
    *,
    test: bool = False,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """A take of what a family of methods has learned, on a character; test: its figures instead, by ``Work.report``."""
    method = _method(family, Product.REPORT if test else Product.TAKE)
    meant, learned = character(who), read_learned(family, file)
    request = BakeRequest(meant.armature, check_settings(method.name, settings), engine, seed, meant.scale, body=body)
    return Work(do_at_once(lambda own: bake_job(own, method, request, learned, folder)))


def _method(family: str, product: Product) -> Method:
    method = registry.get_family(family).method(product)
    if method is None:
        raise BadSettings(f"'{family}' makes no {product.value}", "Ask another family for it")
    return method
