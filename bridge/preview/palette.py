# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures made small: a PNG of few colours, for pages that show many."""

import struct
import zlib
from pathlib import Path

import bpy
import numpy as np

from ...core.files import write_whole

_COLOURS = (256, 128, 64, 32, 16)


def shrink(path: Path, most_bytes: int) -> None:
    """Write a picture again with as many colours as fit into so many bytes; if none do, with the fewest."""
    pixels = _read(path)
    for count in _COLOURS:
        data = _png(*_reduced(pixels, count))
        if len(data) <= most_bytes:
            break
    write_whole(path, data)


def _read(path: Path) -> np.ndarray:
    """(H, W, 3) bytes, top row first."""
    image = bpy.data.images.load(str(path), check_existing=False)
    width, height = image.size
    values = np.empty(width * height * 4, dtype=np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return (values.reshape(height, width, 4)[::-1, :, :3] * 255.0 + 0.5).astype(np.uint8)


def _reduced(pixels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(H, W) which colour, and (count, 3) the colours, of bytes (H, W, 3).

    Median cut: the box of colours that is widest for how often it is seen is cut where half of its pixels are.
    """
    colours, which, seen = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    boxes = [np.arange(len(colours))]
    while len(boxes) < min(count, len(colours)):
        widths = [np.ptp(colours[box].astype(int), axis=0) for box in boxes]
        worth = [width.max() * np.sqrt(seen[box].sum()) for width, box in zip(widths, boxes, strict=True)]
        index = int(np.argmax(worth))
        box = boxes[index]
        box = box[np.argsort(colours[box, int(np.argmax(widths[index]))], kind="stable")]
        total = np.cumsum(seen[box])
        cut = int(np.clip(np.searchsorted(total, total[-1] / 2) + 1, 1, len(box) - 1))
        boxes[index] = box[:cut]
        boxes.append(box[cut:])
    palette = np.array([np.average(colours[box], axis=0, weights=seen[box]) for box in boxes])
    order = np.argsort(palette.sum(axis=1), kind="stable")
    place = np.empty(len(colours), dtype=np.uint8)
    for number, index in enumerate(order):
        place[boxes[index]] = number
    return place[which.ravel()].reshape(pixels.shape[:2]), np.round(palette[order]).astype(np.uint8)


def _png(which: np.ndarray, palette: np.ndarray) -> bytes:
    """A picture with a palette as the bytes of a PNG file."""
    height, width = which.shape
    rows = np.pad(which, ((0, 0), (1, 0))).tobytes()  # each begins with its filter: none

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in parts)
