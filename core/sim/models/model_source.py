# SPDX-License-Identifier: GPL-3.0-or-later
"""A model file made safe for a compiler: URDF or MJCF as one text without references, and its meshes as bytes.

The compiler itself reads no file: what a model includes is put into it here, and what it names as a mesh is read here,
from the model's own folder alone. What no body needs (textures, cameras, sensors, keyframes) is left out before the
compiler sees it. Nothing here understands joints or masses; that is the compiler's business.
"""

import xml.parsers.expat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from ...errors import BadFile
from ...files import read_bytes
from ...limits import (
    MODEL_DEPTH,
    MODEL_ELEMENTS,
    MODEL_FILES,
    MODEL_INCLUDES,
    MODEL_MESH_BYTES,
    MODEL_MESHES_BYTES,
    MODEL_XML_BYTES,
)
from ...paths import why_no_file

ENDINGS = (".urdf", ".xml", ".mjcf")
"""Of files that may be models."""

# Of MJCF: what no body needs, and what would make bodies, or read files, by rules of its own.
_LEFT_OUT = frozenset(
    "texture skin sensor keyframe tendon equality contact visual statistic custom light camera deformable site "
    "extension".split()
)
_REFUSED = frozenset("composite flexcomp flex replicate attach plugin model transmission_plugin".split())
_DECODED = (".stl", ".obj", ".msh")
_SIZES = "Choose a smaller model, or simplify its meshes"
# Of URDF: joints that no body has, which are held where they are.
_HELD = {"prismatic": "slides", "planar": "slides"}


@dataclass(eq=False)
class ModelSource:
    """text: XML for the compiler. meshes: by the name that the text has for it what is in the file.

    urdf: which of the two formats it is. masses: kg, and where their middle is in the link's frame in
    metres, by link, of links without an inertia, which their shapes have to tell. notes: what was left out, for people.
    """

    text: str
    urdf: bool
    meshes: dict[str, bytes] = field(default_factory=dict)
    masses: dict[str, tuple[float, tuple[float, float, float]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_model_source(path: Path) -> ModelSource:
    """Read a model and everything that it needs; whatever it is not to have is a ``BadFile`` that names it."""
    if reason := why_no_file(path):
        raise BadFile(f"'{path.name}' {reason}", "Check the path")
    return _Reading(path).read()


class _Reading:
    """One model while it is read; counts what it takes."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.resolve().parent
        self.bytes = self.elements = self.mesh_bytes = 0
        self.included: list[Path] = []
        self.meshes: dict[str, bytes] = {}
        self.names: dict[Path, str] = {}
        self.masses: dict[str, tuple[float, tuple[float, float, float]]] = {}
        self.notes: list[str] = []

    def read(self) -> ModelSource:
        root = self._parse(self.path)
        if root.tag not in ("robot", "mujoco"):
            raise BadFile(
                f"'{self.path.name}' begins with <{root.tag}>, and a model with <robot> (URDF) or <mujoco> (MJCF)",
                "Choose the model's own file",
            )
        urdf = root.tag == "robot"
        if urdf:
            self._clean_urdf(root)
        else:
            self._include(root, 0)
            self._clean_mjcf(root)
        self._take_meshes(root, urdf)
        text = ElementTree.tostring(root, encoding="unicode")
        return ModelSource(text, urdf, self.meshes, self.masses, self.notes)

    def _parse(self, path: Path) -> ElementTree.Element:
        """The file's elements; entities, which may grow without end, and anything too large are refused."""
        data = read_bytes(path, MODEL_XML_BYTES)
        self.bytes += len(data)
        if self.bytes > MODEL_XML_BYTES:
            raise BadFile(f"'{self.path.name}' includes more than {MODEL_XML_BYTES} bytes", _SIZES)
        builder, depth = ElementTree.TreeBuilder(), 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            self.elements += 1
            if self.elements > MODEL_ELEMENTS or depth > MODEL_DEPTH:
                what = f"more than {MODEL_ELEMENTS} elements" if depth <= MODEL_DEPTH else f"{depth} elements in a row"
                raise BadFile(f"'{path.name}' has {what}", _SIZES)
            builder.start(tag, attributes)

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            builder.end(tag)

        def refuse(*_: object) -> None:
            raise BadFile(f"'{path.name}' declares entities or a document type, which no model needs", "Take them out")

        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
        try:
            parser.Parse(_text_of(data), True)
        except xml.parsers.expat.ExpatError as error:
            raise BadFile(f"'{path.name}' is not whole XML: {error}", "Export or download it again") from error
        return builder.close()

    def _include(self, element: ElementTree.Element, depth: int) -> None:
        """Put what is included where it is asked for. As MuJoCo has it, no file comes in twice, itself included."""
        for child in list(element):
            if child.tag != "include":
                self._include(child, depth)
                continue
            path = self._inside(child.get("file", ""), self.folder)
            if path in self.included or path == self.path.resolve():
                raise BadFile(f"'{path.name}' is included in a cycle, or twice", "Include it once")
            self.included.append(path)
            if len(self.included) > MODEL_INCLUDES:
                raise BadFile(f"'{self.path.name}' includes more than {MODEL_INCLUDES} files", _SIZES)
            found = self._parse(path)
            self._include(found, depth + 1)
            at = list(element).index(child)
            element.remove(child)
            for offset, one in enumerate(found):
                element.insert(at + offset, one)

    def _clean_urdf(self, root: ElementTree.Element) -> None:
        for joint in root.iter("joint"):
            self._hold_joint(joint)
        for link in root.iter("link"):
            self._take_mass(link)
            for part in [one for one in link if one.tag in ("visual", "collision")]:
                mesh = part.find("geometry/mesh")
                ball = part.find("geometry/sphere")
                if mesh is not None and not self._is_decoded(mesh.get("filename", "")):
                    link.remove(part)
                elif part.tag == "visual" and ball is not None and ball.get("radius", "").strip(" 0.") == "":
                    link.remove(part)  # the marks of some exporters
        for part in [one for one in root if one.tag not in ("link", "joint", "material", "mujoco")]:
            root.remove(part)
        for material in root.iter("material"):
            for part in list(material):
                if part.tag == "texture":
                    material.remove(part)
        told = root.find("mujoco/compiler")
        if told is None:
            told = ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler")
        told.set("discardvisual", "false")

    def _hold_joint(self, joint: ElementTree.Element) -> None:
        """Let a joint that no body has be none: it is held where it is, and that is told."""
        kind, name = joint.get("type", ""), joint.get("name", "")
        mimic = joint.find("mimic")
        if mimic is None and kind not in _HELD:
            return
        why = f"follows '{mimic.get('joint', '')}'" if mimic is not None else _HELD[kind]
        self.notes.append(f"Joint '{name}' {why}, which is not simulated: it is held where it is")
        joint.set("type", "fixed")
        for part in [part for part in joint if part.tag in ("mimic", "axis", "limit", "dynamics")]:
            joint.remove(part)

    def _take_mass(self, link: ElementTree.Element) -> None:
        """Leave an inertia of zero, with a mass that is none, to be worked out from the link's shapes."""
        inertial = link.find("inertial")
        mass, inertia = (link.find(f"inertial/{name}") for name in ("mass", "inertia"))
        if inertial is None or mass is None or inertia is None or link.find("collision") is None:
            return
        try:
            weighs = float(mass.get("value", ""))
            origin = inertial.find("origin")
            words = ("0 0 0" if origin is None else origin.get("xyz", "0 0 0")).split()
            x, y, z = (float(word) for word in words)
            none = all(float(inertia.get(name, "0")) == 0.0 for name in ("ixx", "iyy", "izz"))
        except ValueError:
            return  # the compiler says so
        if none and weighs > 0.0:
            link.remove(inertial)
            self.masses[link.get("name", "")] = (weighs, (x, y, z))

    def _clean_mjcf(self, root: ElementTree.Element) -> None:
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag in _REFUSED and not (child.tag == "flex" and parent.tag == "deformable"):
                    raise BadFile(f"'{self.path.name}' has a <{child.tag}>, which no body has", "Take it out")
                if child.tag in _LEFT_OUT or self._is_needless(parent, child):
                    parent.remove(child)
        for material in root.iter("material"):
            material.attrib.pop("texture", None)

    def _is_needless(self, parent: ElementTree.Element, child: ElementTree.Element) -> bool:
        if parent.tag == "actuator":
            return "joint" not in child.attrib
        if child.tag == "joint" and child.get("type") == "slide" and parent.tag == "body":
            self.notes.append(f"Joint '{child.get('name', '')}' slides, which is not simulated: it is held where it is")
            return True
        if child.tag in ("geom", "hfield") and (child.tag == "hfield" or child.get("type") in ("hfield", "sdf")):
            return True
        return (
            child.tag == "mesh"
            and parent.tag == "asset"
            and "file" in child.attrib
            and not self._is_decoded(child.get("file", ""))
        )

    def _is_decoded(self, name: str) -> bool:
        if name.lower().endswith(_DECODED):
            return True
        self.notes.append(f"Mesh '{name}' is of a kind that is not read ({', '.join(_DECODED)} are): it is left out")
        return False

    def _take_meshes(self, root: ElementTree.Element, urdf: bool) -> None:
        """Read what the text names, and let it be named by number."""
        compilers = list(root.iter("compiler"))
        told: dict[str, str] = {}
        for compiler in compilers:
            told |= compiler.attrib
            for name in [name for name in compiler.attrib if name.endswith("dir") or name == "strippath"]:
                del compiler.attrib[name]
        strips = told.get("strippath", "false") == "true"
        where = told.get("meshdir", told.get("assetdir", ""))
        folder = self._inside(where, self.folder) if where else self.folder
        for element in _all(root):
            for name in [name for name in element.attrib if name.startswith("file") or name.endswith("dir")]:
                if element.tag != "mesh" or name != ("filename" if urdf else "file"):
                    raise BadFile(f"<{element.tag}> names a file: {element.attrib[name]}", "Take it out")
                given = element.attrib[name]
                path = self._inside(given.replace("\\", "/").rsplit("/", 1)[-1] if strips else given, folder)
                if not urdf and "name" not in element.attrib:
                    element.set("name", path.stem)
                element.set(name, self._mesh(path, given))

    def _mesh(self, path: Path, given: str) -> str:
        if path in self.names:
            return self.names[path]
        if reason := why_no_file(path):
            raise BadFile(f"The mesh '{given}' {reason}", "Put it beside the model, where the model says it is")
        if len(self.names) >= MODEL_FILES:
            raise BadFile(f"'{self.path.name}' has more than {MODEL_FILES} meshes", _SIZES)
        data = read_bytes(path, MODEL_MESH_BYTES)
        self.mesh_bytes += len(data)
        if self.mesh_bytes > MODEL_MESHES_BYTES:
            raise BadFile(f"The meshes of '{self.path.name}' have more than {MODEL_MESHES_BYTES} bytes", _SIZES)
        self.names[path] = f"mesh{len(self.names)}{path.suffix.lower()}"
        self.meshes[self.names[path]] = data
        return self.names[path]

    def _inside(self, given: str, folder: Path) -> Path:
        """The path that a model means by ``given``, if that is in the model's own folder, links followed."""
        hint = "Let the model name it by its path from the model's own folder, and put it there"
        if "://" in given or given.startswith("package:"):
            raise BadFile(f"'{given}' is no path from the model's folder: Sinew looks nothing up elsewhere", hint)
        if not given or "\0" in given:
            raise BadFile(f"'{self.path.name}' names a file without a name", hint)
        path = (folder / given.replace("\\", "/")).resolve()
        if not path.is_relative_to(self.folder):
            raise BadFile(f"'{given}' is outside of the model's folder", hint)
        return path


def _all(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    return iter(list(root.iter()))


def _text_of(data: bytes) -> bytes:
    """The file without what editors leave after its end; text that is no UTF-8 is taken as Latin letters."""
    data = data.rstrip(b"\0 \r\n\t")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8") if b"encoding" not in data[:200] else data
    return data
