# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card's side: one shader and one mesh for everything solid, drawn by one call; lines and triangles.

Everything here is made when the first viewport is drawn, because in the background there is no graphics card to ask.
"""

from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from .scenery import Scenery, Solids
from .solid import solid_mesh

_AT_ONCE = 128  # a uniform block of 16 KiB, which every card has, holds that many
_FEW = 48
_BLOCKS = 8
_LINE_WIDTH = 2.0
_LIGHT = Vector((-0.35, 0.55, 0.76))  # seen from the viewer

_STRUCT = "struct Part { mat4 place; vec4 size; vec4 color; };"
_VERTEX = """
void main()
{
  Part part = parts[int(number + 0.5)];
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
  gl_Position = view_projection * (part.place * vec4(local, 1.0));
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

    def draw(
        self, scenery: Scenery, view: Matrix, projection: Matrix, size: tuple[int, int], *, in_front: bool
    ) -> None:
        """Draw it all into the viewport that is being drawn; the state of the graphics card is as before."""
        blend, depth = gpu.state.blend_get(), gpu.state.depth_test_get()
        try:
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_test_set("NONE" if in_front else "LESS_EQUAL")
            gpu.state.depth_mask_set(False)
            if scenery.solids:
                gpu.state.face_culling_set("BACK")
                self._draw_solids(scenery.solids, view, projection)
                gpu.state.face_culling_set("NONE")
            if scenery.triangles:
                self._batch(self._triangles, "TRIS", scenery.triangles).draw(self._triangles)
            if scenery.lines:
                self._lines.uniform_float("viewportSize", size)
                self._lines.uniform_float("lineWidth", _LINE_WIDTH)
                self._batch(self._lines, "LINES", scenery.lines).draw(self._lines)
        finally:
            gpu.state.face_culling_set("NONE")
            gpu.state.depth_mask_set(True)
            gpu.state.depth_test_set(depth)
            gpu.state.blend_set(blend)

    def _draw_solids(self, solids: list[Solids], view: Matrix, projection: Matrix) -> None:
        data, axes = packed(solids, np.array(view)), view.to_3x3()
        self._shader.uniform_float("view_projection", projection @ view)
        self._shader.uniform_float("to_viewer", axes[2])
        self._shader.uniform_float("to_light", _LIGHT @ axes)
        copies = self._meshes[0] if len(data) <= _FEW else self._meshes[1]
        for start in range(0, len(data), _AT_ONCE):
            count = min(_AT_ONCE, len(data) - start)
            self._shader.uniform_block("parts", self._block(data[start : start + count]))
            copies.batch.draw_range(self._shader, elem_start=0, elem_count=count * copies.corners)

    def _block(self, data: np.ndarray) -> Any:
        """A uniform block with the data. They take turns: to change one that is still drawn from would wait for it."""
        block = np.zeros((_AT_ONCE, 24), dtype=np.float32)
        block[: len(data)] = data
        if len(self._blocks) < _BLOCKS:
            self._blocks.append(gpu.types.GPUUniformBuf(block))
        else:
            self._blocks.append(self._blocks.pop(0))
            self._blocks[-1].update(block)
        return self._blocks[-1]

    @staticmethod
    def _batch(shader: Any, kind: str, pieces: list[tuple[np.ndarray, np.ndarray]]) -> Any:
        points, colors = (np.concatenate([piece[part] for piece in pieces]) for part in (0, 1))
        return batch_for_shader(shader, kind, {"pos": points, "color": colors})


class _Copies:
    """The solid mesh so many times over, each copy with its number: faster than instances, which cost a draw each.

    batch: all of them. corners: of the triangles of one.
    """

    def __init__(self, shader: Any, steps: int, most: int) -> None:
        mesh = solid_mesh(steps)
        vertices = len(mesh.end)
        self.corners = mesh.triangles.size
        numbers = np.repeat(np.arange(most, dtype=np.float32), vertices)
        arrays = {
            **{name: np.tile(getattr(mesh, name), (most, 1)) for name in ("cube", "ball", "face")},
            "end": np.tile(mesh.end, most),
            "number": numbers,
        }
        triangles = mesh.triangles[None] + vertices * np.arange(most, dtype=np.int32)[:, None, None]
        indices = np.ascontiguousarray(triangles.reshape(-1, 3), dtype=np.int32)
        self.batch = batch_for_shader(shader, "TRIS", arrays, indices=indices)


def packed(solids: list[Solids], view: np.ndarray) -> np.ndarray:
    """(N, 24) all solids as the shader reads them, the farthest first, so that what is near covers what is not."""
    places = np.concatenate([each.places for each in solids])
    data = np.empty((len(places), 24), dtype=np.float32)
    data[:, :16] = places.transpose(0, 2, 1).reshape(-1, 16)  # columns
    data[:, 16:20] = np.concatenate([each.sizes for each in solids])
    data[:, 20:] = np.concatenate([each.colors for each in solids])
    return data[np.argsort(places[:, :3, 3] @ view[2, :3].astype(np.float32), kind="stable")]


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
    info.vertex_in(0, "VEC3", "cube")
    info.vertex_in(1, "VEC3", "ball")
    info.vertex_in(2, "VEC3", "face")
    info.vertex_in(3, "FLOAT", "end")
    info.vertex_in(4, "FLOAT", "number")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "fragColor")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
