# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card's side: one shader and one mesh for everything solid, drawn by one call; lines and triangles.

What the card was given is kept for further redraws of the same draw list: seen from elsewhere, solids are only put in
another order, and where nothing has changed at all, only the calls that draw are left.

Everything here is made when the first viewport is drawn, because in the background there is no graphics card to ask.
"""

from dataclasses import dataclass, field
from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ...core.geometry.quaternions import Array
from .draw_list import Colored, DrawList, Solids
from .solid_mesh import Floats, make_solid_mesh

_AT_ONCE = 128  # a uniform block of 16 KiB, which every card has, holds that many
_FEW = 48
_BLOCKS = 8
_LINE_WIDTH = 2.0
_LIGHT = Vector((-0.35, 0.55, 0.76))  # seen from the viewer

_STRUCT = "struct Part { mat4 place; vec4 size; vec4 color; };"
# A corner is where it is on the cube and, as a number, which solid it is of and on which side of it: see ``_Copies``.
_VERTEX = """
void main()
{
  int code = int(corner.w + 0.5);
  Part part = parts[code >> 4];
  int axis = (code >> 2) & 3;
  float end = (code & 2) == 0 ? -1.0 : 1.0;
  float side = (code & 1) == 0 ? -1.0 : 1.0;
  vec3 face = vec3(axis == 0 ? side : 0.0, axis == 1 ? side : 0.0, axis == 2 ? side : 0.0);
  vec3 cube = corner.xyz;
  vec3 ball = normalize(cube);
  vec3 local;
  vec3 normal;
  if (part.size.w < 0.5) {
    local = ball * part.size.x + vec3(0.0, 0.0, end * part.size.y);
    normal = ball;
  }
  else if (part.size.w < 1.5) {
    local = cube * part.size.xyz;
    normal = face;
  }
  else {
    float square = max(abs(cube.x), abs(cube.y));
    vec2 disc = square > 0.0 ? cube.xy * square / length(cube.xy) : vec2(0.0);
    local = vec3(disc * part.size.x * (0.5 - 0.5 * cube.z), cube.z * part.size.y);
    normal = abs(face.z) > 0.5 ? face : vec3(normalize(cube.xy), 0.3);
  }
  tint = part.color;
  world_normal = mat3(part.place) * normal;
  gl_Position = view_projection * vec4((part.place * vec4(local, 1.0)).xyz, 1.0);
}
"""
_FRAGMENT = """
void main()
{
  vec3 normal = normalize(world_normal);
  float lit = 0.55 + 0.45 * clamp(dot(normal, to_light), 0.0, 1.0);
  float rim = 1.0 - clamp(dot(normal, to_viewer), 0.0, 1.0);
  float alpha = clamp(tint.a * (0.8 + 0.7 * rim * rim), 0.0, 1.0);
  fragColor = vec4(pow(tint.rgb * lit, vec3(2.2)), alpha); /* the viewport's target is linear */
}
"""


class Canvas:
    """What is kept on the graphics card from redraw to redraw."""

    def __init__(self) -> None:
        self._shader = _solid_shader()
        # Fine for one or two characters, coarse for a crowd.
        self._meshes = [_Copies(self._shader, steps, most) for steps, most in ((2, _FEW), (1, _AT_ONCE))]
        self._blocks: list[Any] = []  # the one used last comes last
        self._lines = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
        self._triangles = gpu.shader.from_builtin("SMOOTH_COLOR")
        self._formats = {shader: _point_format(shader) for shader in (self._lines, self._triangles)}
        self._given: _Given | None = None

    def draw(
        self, draw_list: DrawList, view: Matrix, projection: Matrix, size: tuple[int, int], *, in_front: bool
    ) -> None:
        """Draw it all into the viewport that is being drawn; the state of the graphics card is as before."""
        blend, depth = gpu.state.blend_get(), gpu.state.depth_test_get()
        try:
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_test_set("NONE" if in_front else "LESS_EQUAL")
            gpu.state.depth_mask_set(False)
            given = self._given
            if given is None or given.draw_list is not draw_list:
                given = self._given = self._give(draw_list)
            if len(given.solids):
                gpu.state.face_culling_set("BACK")
                self._draw_solids(given, view, projection)
                gpu.state.face_culling_set("NONE")
            if given.triangles is not None:
                given.triangles.draw(self._triangles)
            if given.lines is not None:
                self._lines.uniform_float("viewportSize", size)
                self._lines.uniform_float("lineWidth", _LINE_WIDTH)
                given.lines.draw(self._lines)
        finally:
            gpu.state.face_culling_set("NONE")
            gpu.state.depth_mask_set(True)
            gpu.state.depth_test_set(depth)
            gpu.state.blend_set(blend)

    def _give(self, draw_list: DrawList) -> "_Given":
        lines, triangles = (
            self._batch(shader, kind, pieces)
            for shader, kind, pieces in (
                (self._lines, "LINES", draw_list.lines),
                (self._triangles, "TRIS", draw_list.triangles),
            )
        )
        return _Given(draw_list, flatten_solids(draw_list.solids), lines, triangles)

    def _draw_solids(self, given: "_Given", view: Matrix, projection: Matrix) -> None:
        axes = view.to_3x3()
        toward = tuple(axes[2])
        if toward != given.seen_from:
            data, given.seen_from = sort_back_to_front(given.solids, np.array(toward)), toward
            pieces = [data[at : at + _AT_ONCE] for at in range(0, len(data), _AT_ONCE)]
            given.blocks = [self._block(piece, max(_BLOCKS, 2 * len(pieces))) for piece in pieces]
        self._shader.uniform_float("view_projection", projection @ view)
        self._shader.uniform_float("to_viewer", toward)
        self._shader.uniform_float("to_light", _LIGHT @ axes)
        total = len(given.solids)
        copies = self._meshes[0] if total <= _FEW else self._meshes[1]
        for start, block in zip(range(0, total, _AT_ONCE), given.blocks, strict=True):
            self._shader.uniform_block("parts", block)
            copies.batch.draw_range(
                self._shader, elem_start=0, elem_count=min(_AT_ONCE, total - start) * copies.corners
            )

    def _block(self, data: Floats, turns: int) -> Any:
        """A uniform block with the data. ``turns`` of them take turns: to change one in use would wait for that."""
        block = np.zeros((_AT_ONCE, 24), dtype=np.float32)
        block[: len(data)] = data
        if len(self._blocks) < turns:
            self._blocks.append(gpu.types.GPUUniformBuf(block))
        else:
            self._blocks.append(self._blocks.pop(0))
            self._blocks[-1].update(block)
        return self._blocks[-1]

    def _batch(self, shader: Any, kind: str, pieces: list[Colored]) -> Any:
        """All the pieces as one batch; None for none."""
        if not pieces:
            return None
        points, colors = (np.concatenate([piece[part] for piece in pieces]) for part in (0, 1))
        vertices = gpu.types.GPUVertBuf(self._formats[shader], len(points))
        vertices.attr_fill("pos", points)
        vertices.attr_fill("color", colors)
        return gpu.types.GPUBatch(type=kind, buf=vertices)


@dataclass(eq=False)
class _Given:
    """What the card was given of a draw list: the solids' numbers (N, 24) in no order, batches of lines and triangles.

    blocks: the solids in order, for viewers in the direction ``seen_from``.
    """

    draw_list: DrawList
    solids: Floats
    lines: Any
    triangles: Any
    seen_from: tuple[float, ...] = ()
    blocks: list[Any] = field(default_factory=list)


class _Copies:
    """The solid mesh so many times over, each copy with its number: faster than instances, which cost a draw each.

    batch: all of them. corners: of the triangles of one.
    """

    def __init__(self, shader: Any, steps: int, most: int) -> None:
        mesh = make_solid_mesh(steps)
        vertices = len(mesh.end)
        self.corners = mesh.triangles.size
        # All that a corner knows in one attribute: to read one costs more than to take it apart.
        side = 4 * np.abs(mesh.face).argmax(axis=-1) + 2 * (mesh.end > 0.0) + (mesh.face.sum(axis=-1) > 0.0)
        corners = np.empty((most, vertices, 4), dtype=np.float32)
        corners[..., :3] = mesh.cube
        corners[..., 3] = 16 * np.arange(most)[:, None] + side
        triangles = mesh.triangles[None] + vertices * np.arange(most, dtype=np.int32)[:, None, None]
        indices = np.ascontiguousarray(triangles.reshape(-1, 3), dtype=np.int32)
        self.batch = batch_for_shader(shader, "TRIS", {"corner": corners.reshape(-1, 4)}, indices=indices)


def flatten_solids(solids: list[Solids]) -> Floats:
    """(N, 24) all solids as the shader reads them."""
    data = np.empty((sum(map(len, solids)), 24), dtype=np.float32)
    start = 0
    for each in solids:
        own = data[start : (start := start + len(each))]
        own[:, :16] = each.places.swapaxes(1, 2).reshape(-1, 16)  # columns
        own[:, 16:20], own[:, 20:] = each.sizes, each.colors
    return data


def sort_back_to_front(data: Floats, toward: Array) -> Floats:
    """The rows of ``flatten_solids`` with the farthest first, so that what is near covers what is not.

    toward: (3,) where the viewer is, seen from the scene.
    """
    return data[np.argsort(data[:, 12:15] @ toward.astype(np.float32), kind="stable")]


def _point_format(shader: Any) -> Any:
    """Points with a colour, as one of Blender's own shaders reads them."""
    found = gpu.types.GPUVertFormat()
    for name, _ in shader.attrs_info_get():
        found.attr_add(id=name, comp_type="F32", len={"pos": 3, "color": 4}[name], fetch_mode="FLOAT")
    return found


def _solid_shader() -> Any:
    between = gpu.types.GPUStageInterfaceInfo("sinew_solid")
    between.smooth("VEC4", "tint")
    between.smooth("VEC3", "world_normal")
    info = gpu.types.GPUShaderCreateInfo()
    info.typedef_source(_STRUCT)
    info.push_constant("MAT4", "view_projection")
    info.push_constant("VEC3", "to_viewer")
    info.push_constant("VEC3", "to_light")
    info.uniform_buf(0, "Part", f"parts[{_AT_ONCE}]")
    info.vertex_in(0, "VEC4", "corner")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "fragColor")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
