# SPDX-License-Identifier: GPL-3.0-or-later
"""The characters of ``bench characters``, whose they are, and the page that shows what becomes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..run import Row

_DASH = "–"


@dataclass(frozen=True)
class CharacterFile:
    """A file that nobody here made.

    file: in ../shared/mocap. action: the one that is simulated, and shown on the sheet called by the character's name.
    more: others worth a sheet of their own. credit: whose it is, and by which licence. about: what to
    know of it; note: and of what becomes of it.
    """

    name: str
    file: str
    action: str
    credit: str
    about: str
    more: tuple[str, ...] = ()
    note: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The Actions that have sheets."""
        return (self.action, *self.more)

    def picture(self, action: str) -> str:
        """What the sheet of an Action is called."""
        return self.name if action == self.action else f"{self.name}_{action}"


CHARACTERS = (
    CharacterFile(
        "arnaud",
        "skinned/arnaud_walk_mocap.glb",
        "walk",
        "guillaumeblanc/ozz-animation, from ProAnimationBank; MIT",
        "A man of 53 bones with a recorded walk of 1.4 m.",
    ),
    CharacterFile(
        "mannequiny",
        "skinned/mannequiny.glb",
        "fight_idle_root.001",
        "© 2020 GDQuest and contributors, from godotengine/godot-demo-projects; CC BY 4.0",
        "A mannequin of 45 bones with ten Actions made by hand for a game.",
        more=("fight_kick_root.001",),
        note="The kick turns right around within half a second, made by hand: the take is late, and tips over as it "
        "ends. It counts as standing, for it is not down yet.",
    ),
    CharacterFile(
        "CesiumMan",
        "skinned/CesiumMan.glb",
        "Anim_0",
        "© Cesium, from KhronosGroup/glTF-Sample-Assets; CC BY 4.0 with trademark limitations",
        "A man of 19 bones who walks on the spot.",
        note="His feet glide under him, which no body can do: the take lets them stand where they touch, and so he "
        "marches, jerkily, and now and then shifts. Give such a walk its travel first.",
    ),
    CharacterFile(
        "Fox",
        "skinned/Fox.glb",
        "Survey",
        "PixelMannen (mesh, CC0), tomkranis (rig and animation, CC BY 4.0), AsoboStudio and scurest (conversion, CC BY "
        "4.0), from KhronosGroup/glTF-Sample-Assets",
        "A fox of 24 bones and a hundred units, with three Actions made by hand.",
        more=("Walk",),
    ),
    CharacterFile(
        "RobotExpressive",
        "skinned/RobotExpressive.glb",
        "Wave",
        "Tomás Laulhé and Don McCurdy, from mrdoob/three.js; CC0",
        "A robot of rigid parts: its head is almost half of it, its feet hang on no leg. Fourteen Actions by hand.",
        more=("Walking",),
        note="The head weighs more than all the rest: it leans and shuffles as it waves, and is bent over by the end. "
        "Its walk is on the spot, and slides.",
    ),
    CharacterFile(
        "pab_walk",
        "fbx/pab_walk.fbx",
        "Hips|walk|walk:BaseAnimation",
        "guillaumeblanc/ozz-animation, from ProAnimationBank; MIT",
        "A recorded walk on 66 bones without a mesh; the sheet dresses them, source and take alike.",
    ),
)


_HEAD = """# Characters that nobody here made

Made by `./sinew bench characters --rows docs/characters.jsonl --sheets`; do not edit it by hand. It needs
the files in `../shared/mocap`, which are no part of the project.

Every character goes the way that an animator goes, by the buttons of the panels and nothing else: Blender's own
importer, **Use Selected Armature**, an Action, **Check Motion** and what it offers, **Fit Again**, **Simulate Selected
Action** with the default settings and seed {seeds}, and **Send to NLA**. In the pictures the source is blue, and below
it is the take; numbers are frames. Each sheet has plain colours in place of the character's own materials.

{sums}
"""
_COLUMNS = ("Action", "length", "stood", "joint error", "skate", "of the source", "sinks", "jerk")


def characters_page(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    """Markdown from rows and the sheets by name."""
    seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
    parts = [_HEAD.format(seeds=seeds, sums=_sums(rows))]
    for character in CHARACTERS:
        own = [row for row in rows if row["character"] == character.name]
        if own:
            own.sort(key=lambda row: (row["action"] != character.action, row["action"]))
            parts.append(_section(character, own, pictures))
    return "\n".join(parts)


def _sums(rows: Sequence[Row]) -> str:
    """A sentence about all of them."""
    baked = [row for row in rows if "baked" in row]
    fell = [row for row in baked if row["fell"]]
    untouched = all(row["source_untouched"] and row["in_nla"] for row in baked)
    text = f"{len(baked)} of {len(rows)} Actions were simulated and baked; {len(fell)} of these fell."
    return text + (" Every source is as it was, key by key, and every take is in the NLA." if untouched else "")


def _section(character: CharacterFile, rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    first = rows[0]
    lines = [f"## {character.name}", ""]
    for action in character.shown:
        picture = pictures.get(character.picture(action))
        if picture is not None:
            lines += [f"![{character.name}, {action}]({picture})", ""]
    lines += [f"{character.about} {_body(first)}".strip(), ""]
    accepted = dict.fromkeys(text for row in rows for text in row.get("accepted", []))
    lines += [f"- **Check Motion** said: *{message}*. What it offered was accepted." for message in accepted]
    lines += [f"- {character.note}"] if character.note else []
    lines += [""] if lines[-1] else []
    lines += [f"| {' | '.join(_COLUMNS)} |", "|" + "---|" * len(_COLUMNS)]
    lines += [_line(row) for row in rows]
    lines += ["", f"*{character.credit}.*", ""]
    return "\n".join(lines)


def _body(row: Row) -> str:
    if "links" not in row:
        return ""
    weight = f"{row['mass_kg']:.0f} kg" if row["mass_kg"] >= 10.0 else f"{row['mass_kg']:.1f} kg"
    return f"Its body has {row['links']} parts and {weight}."


def _line(row: Row) -> str:
    name = row["action"].replace("|", "\\|")
    if "baked" not in row:
        return f"| {name} | {_DASH} | refused: {row['refused']} |" + f" {_DASH} |" * (len(_COLUMNS) - 3)
    fate = f"fell at {row['fell_at_s']:.1f} s" if row["fell"] else "yes"
    length = f"{row['clip_s']:.1f} s"
    figures = [
        _figure(row, "joint_error_m", 1e3, "mm", 0),
        _figure(row, "skate_m_s", 1e2, "cm/s", 1),
        _figure(row, "source_skate_m_s", 1e2, "cm/s", 1),
        _figure(row, "penetration_max_m", 1e2, "cm", 1),
        _figure(row, "jerk_ratio", 1.0, "×", 2),
    ]
    return f"| {name} | {length} | {fate} | {' | '.join(figures)} |"


def _figure(row: Row, name: str, scale: float, unit: str, digits: int) -> str:
    return f"{row[name] * scale:.{digits}f} {unit}" if isinstance(row.get(name), float | int) else _DASH
