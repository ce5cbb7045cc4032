# SPDX-License-Identifier: GPL-3.0-or-later
"""The words in bone names and what they mean; data for ``names.py``.

Gathered from the naming of Mixamo, the CMU BVH files, Rigify and its DEF bones, Unreal, VRM, glTF and three.js
samples, 3ds Max Biped, Valve, DAZ, Auto-Rig Pro, Perception Neuron and plain English.
"""

LEFT = frozenset({"l", "left", "lft", "lt"})
RIGHT = frozenset({"r", "right", "rgt", "rt"})

# Bones that are never simulated: they keep their own animation.
RIDES = frozenset(
    # fingers
    "thumb index pinky pinkie little ring finger fingers metacarpal metacarpals carpal knuckle "
    # face and hair
    "eye eyes eyeball eyelid lid lids brow eyebrow jaw tongue teeth tooth lip lips cheek nose nostril ear ears face "
    "facial forehead temple chin mouth hair ponytail bangs braid beard horn antenna "
    # soft parts and clothes
    "breast breasts bust boob boobs pec pectoral glute butt buttock jiggle jiggles muscle skirt cloth cape cloak coat "
    "dress scarf sleeve hood hat helmet glasses strap belt ribbon wing wings fin sec adj dyn phys "
    # props
    "weapon sword gun shield prop item holder attach attachment socket bag backpack camera light "
    # twist bones, the ends of chains, and what moves a rig rather than its skin
    "twist twst roll nub end site tip leaf ik fk pole target ctrl control mch tweak helper dummy effector goal heel "
    "footsteps footstep master parent properties vis wgt widget snap switch mechanism metatarsal metatarsals".split()
)

# Words that say which part it is, the most telling first: the first set wholly among a name's words decides.
ROLES: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(words.split()), role)
    for words, role in (
        # A four-legged animal's front legs have the roles of arms.
        ("front toe", "ride"),
        ("front toes", "ride"),
        ("front upper leg", "upper_arm"),
        ("front up leg", "upper_arm"),
        ("fore upper leg", "upper_arm"),
        ("fore up leg", "upper_arm"),
        ("front thigh", "upper_arm"),
        ("front lower leg", "forearm"),
        ("front low leg", "forearm"),
        ("fore lower leg", "forearm"),
        ("fore low leg", "forearm"),
        ("front shin", "forearm"),
        ("front calf", "forearm"),
        ("front knee", "forearm"),
        ("front hoof", "hand"),
        ("fore hoof", "hand"),
        ("front ankle", "hand"),
        ("foot thumb", "toe"),
        ("toe", "toe"),
        ("toes", "toe"),
        ("ball", "toe"),
        ("front leg", "arm"),
        ("fore leg", "arm"),
        ("front foot", "hand"),
        ("front paw", "hand"),
        ("fore paw", "hand"),
        ("foot", "foot"),
        ("ankle", "foot"),
        ("paw", "foot"),
        ("hoof", "foot"),
        ("shin", "shin"),
        ("calf", "shin"),
        ("knee", "shin"),
        ("lower leg", "shin"),
        ("low leg", "shin"),
        ("tibia", "shin"),
        ("shank", "shin"),
        ("thigh", "thigh"),
        ("upper leg", "thigh"),
        ("up leg", "thigh"),
        ("femur", "thigh"),
        ("leg", "leg"),
        ("forearm", "forearm"),
        ("fore arm", "forearm"),
        ("lower arm", "forearm"),
        ("low arm", "forearm"),
        ("elbow", "forearm"),
        ("radius", "forearm"),
        ("ulna", "forearm"),
        ("upper arm", "upper_arm"),
        ("up arm", "upper_arm"),
        ("humerus", "upper_arm"),
        ("bicep", "upper_arm"),
        ("shldr", "upper_arm"),
        ("hand", "hand"),
        ("wrist", "hand"),
        ("palm", "palm"),
        ("arm", "arm"),
        ("clavicle", "clavicle"),
        ("collar", "clavicle"),
        ("clav", "clavicle"),
        ("scapula", "clavicle"),
        ("shoulder", "shoulder"),
        ("neck", "neck"),
        ("head", "head"),
        ("tail", "tail"),
        ("pelvis", "pelvis"),
        ("hips", "pelvis"),
        ("hip", "hip"),
        ("spine", "spine"),
        ("chest", "spine"),
        ("torso", "spine"),
        ("abdomen", "spine"),
        ("ab", "spine"),
        ("abs", "spine"),
        ("belly", "spine"),
        ("stomach", "spine"),
        ("waist", "spine"),
        ("thorax", "spine"),
        ("ribcage", "spine"),
        ("trunk", "spine"),
        ("lumbar", "spine"),
        ("back", "spine"),
        ("middle", "ride"),
    )
)

# Words that say nothing by themselves, but must be known so that 'leftupperlegjoint' can be taken apart.
FILLERS = frozenset(
    "joint jnt bone bip biped def org rig skin skeleton bn bind armature character base in rear hind mid center "
    "centre root body deform stretch bend hub cog".split()
)

# A name that begins with one of these belongs to a layer of a rig: which layer is simulated where there are several.
LAYERS = {"def": 0, "org": 2}
