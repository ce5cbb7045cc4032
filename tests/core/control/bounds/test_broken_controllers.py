# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers of controllers that say what cannot be are refused, whatever they say."""

import json

import pytest

from sinew.core.control.bounds.files import read_controller_content
from sinew.core.errors import BadFile

META = {"sinew": "{}"}


@pytest.mark.parametrize(
    "its",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": []},
        {"dtype": "F32", "shape": [2], "data_offsets": [0]},
        {"dtype": "F32", "shape": [2], "data_offsets": {}},
        {"dtype": "F32", "shape": [2], "data_offsets": ["0", "8"]},
        {"dtype": "F32", "shape": [10**30], "data_offsets": [0, 8]},
        {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
        [],
        None,
    ],
)
def test_a_header_that_cannot_be(tmp_path, its):
    path = tmp_path / "walk.safetensors"
    text = json.dumps({"__metadata__": META, "weights": its}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
    with pytest.raises(BadFile, match=r"walk\.safetensors.*Train it again"):
        read_controller_content(path)
