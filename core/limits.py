# SPDX-License-Identifier: GPL-3.0-or-later
"""How much Sinew takes from a file that somebody else may have written, in one place.

A limit is checked before memory is taken, and a message names the number and the fix. Each is about ten times what the
largest honest file has that we know of: nobody who animates meets one, and what is beyond is damaged, or made to hurt.
"""

MIB = 1024 * 1024
GIB = 1024 * MIB

# JSON. A report with a hundred characters has 2 MB. A random generator's state has whole numbers of 128 bits, which are
# 39 digits, and every whole number of so many digits is a float as well. What we write is some ten levels deep.
JSON_BYTES = 16 * MIB
# What a job is to do, and notes beside it, are read for every job of a folder when a .blend is opened: they have 1 KB,
# and 100 KB with a hundred characters, for bones and edits travel as arrays.
SPEC_BYTES = 256 * 1024
JSON_DIGITS = 40
JSON_DEPTH = 100
JSON_ITEMS = 2_000_000  # lists, mappings and their entries: each takes some hundred bytes, whatever its text has
LARGEST_SEED = 2**64 - 1

# Texts that a panel or a line of a terminal shows: titles, messages, what was found.
TEXT_LETTERS = 2000
NAME_LETTERS = 200  # of a job's id and of what else is a file's name

# Arrays. A library of five hundred thousand frames has 0.6 GB, and travels with its job. Ours are not packed, so that
# they are as large as they look, and are counted as numbers of double precision, which most become: that is twice as
# much where they are kept in single precision. Others' clips may be packed, where what stands still packs well, but no
# motion is packed to a tenth and large as well.
ARCHIVE_BYTES = 4 * GIB
ARCHIVE_ENTRIES = 10_000
ARCHIVE_DIRECTORY_BYTES = 4 * MIB  # 10,000 entries with names of 300 letters
PACKED_TO, OTHERS_PACKED_TO = 4, 10
PACKED_FREE_BYTES = 64 * MIB  # unpacked bytes that are nobody's worry
# An archive's description. A library of sixty clips has 64,000 letters and 4,000 entries.
META_LETTERS = 4 * MIB
META_ITEMS = 500_000
ARRAY_HEADER_BYTES = 10_000  # NumPy's own limit

# A preview of what is learned is read on a timer, once a second: some seconds of a body's links have 1 MB.
SHOWN_BYTES = 16 * MIB

# Learned files: graphs and controllers have up to some 10 MB, and one is read for the panel that shows it.
LEARNED_BYTES = 256 * MIB
LIBRARY_BYTES = 2 * GIB  # clips of single precision: a million frames of sixty bones
TENSORS = 10_000
TENSOR_HEADER_BYTES = 4 * MIB

# Events. A day's run writes 10 MB. One line is a small part of a report.
EVENTS_BYTES = 1 * GIB
EVENT_LINE_BYTES = 256 * 1024
EVENT_SLICE_BYTES = 32 * 1024  # some 2 ms of reading, ten on a busy machine
EVENTS_FAR_BEHIND_BYTES = 4 * MIB  # from here on only one in so many reports of progress is read
EVENTS_THINNED_TO = 16
STEPS = 2**53  # whole numbers that a float can tell apart
RUNS = 10**9
MOMENT_S = 1e11  # the year 5138
FINDINGS = 200
CURVES = 64
MEASUREMENTS = 1000

# What a .blend keeps of a take: its report is some KB of JSON, and frames by the thousand.
REPORT_LETTERS = 1_000_000

# Pose markers of an Action, which the panel looks at with every draw: an hour of motion has some hundred.
MARKERS = 2000

# Variations of a batch are numbered; Blender keeps such a number in 32 bits.
VARIATIONS = 10**6

# Motions. Optical capture has up to 480 frames a second; what is below a half is no motion that a body could follow.
# A clip may be sparser: of an hour, some fifty frames are looked at to fit a body.
# Rigs with faces have some 1,500 bones. What is read of an armature takes some 500 bytes a bone and frame, whatever the
# file has: one key that lies astray makes hours of it. Captured motion has three keys and more for each of them, or at
# least for those that a large rig is driven by.
SLOWEST_FPS, FASTEST_FPS, SPARSEST_FPS = 0.5, 1000.0, 0.001
MOST_FRAMES = 1_048_574  # Blender's own last frame
MOST_BONES = 10_000
MOST_POSES = 10_000_000  # bones times frames: half an hour of sixty bones at 90 frames a second
MOST_PACKED_POSES = 300_000  # of a clip, however well it is packed: Blender takes some 2 KB to show each
MOST_LIBRARY_POSES = 60_000_000  # of all clips of a library together: nine hours of sixty bones at 30 frames a second
MOST_SPARSE_POSES, SPARSE_KEYS = 1_500_000, 0.1  # poses with fewer keys each: sixty bones for 17 minutes
LARGEST_UNITS, LARGEST_DEGREES = 1e9, 1e9  # a million metres in millimetres, and turns beyond counting
LARGEST_M = 1e9
HEAVIEST_KG = 1e5  # the largest dinosaurs had some 70 t
LARGEST_SCALE = 1e6  # metres a unit, and its inverse

# Motion files. Stock clips have up to 0.2 MB. Blender's importer keeps every number of a BVH as a word of its own, of
# some hundred bytes.
STOCK_BYTES = 4 * MIB
BVH_BYTES = 512 * MIB
BVH_NUMBERS = 20_000_000
BVH_LINE_LETTERS = 1 * MIB  # ten times a frame of 1,500 joints
BVH_LINES = 3_000_000  # as many frames as there may be, each followed by an empty line
FBX_BYTES = 2 * GIB
# Of all arrays together, unpacked: twenty minutes of sixty bones. A node takes some 300 bytes when it was read, a model
# 25 KB, and a material 90 KB. A hundred takes of sixty bones have 600,000 nodes.
FBX_ARRAY_BYTES, FBX_PACKED_TO = 512 * MIB, 50
FBX_NODES, FBX_PROPERTIES = 2_000_000, 6_000_000
FBX_MODELS, FBX_MATERIALS, FBX_SHAPES = 20_000, 2000, 5000
FBX_KEYS_REPEATED = 500_000  # keys that are in no curve, but are one's for several objects: each takes up to 1 KB
FBX_SHAPES_BYTES = 256 * MIB  # shapes times points of the largest mesh
FBX_DEPTH = 64
GLTF_BYTES = 2 * GIB  # with the files that belong to it
GLTF_JSON_BYTES = 64 * MIB
GLTF_DEPTH = 900  # of nodes within nodes: Python gives up soon after
# Blender takes 8 to 28 times the bytes of a glTF file's numbers (gltf_size.py has what was measured). Twenty minutes of
# sixty bones at 60 frames a second are the first; zeros that a file has nowhere, and what is in it once and meant more
# often, are the second. Channels of an animation share their times: honest files take nearly twice what is there.
GLTF_NUMBERS_BYTES = 256 * MIB
GLTF_EMPTY_BYTES, GLTF_REPEATED = 16 * MIB, 2
GLTF_NODES, GLTF_MATERIALS = 20_000, 2000
GLTF_PRIMITIVES, GLTF_SHAPES = 1000, 2000  # of one mesh: Blender adds each by copying all before it
SOURCE_BYTES = 2 * GIB  # of any file that a library is made of
BLENDER_PATH_BYTES = 1023  # of a file's path; Blender cuts what is longer
BLENDER_NAME_BYTES = 63

# Model files of robots. A humanoid with hands has 100 links, 0.3 MB of XML, and 30 MB of meshes.
MODEL_XML_BYTES = 8 * MIB  # with all that it includes
MODEL_ELEMENTS, MODEL_DEPTH = 50_000, 200
MODEL_FILES, MODEL_INCLUDES = 500, 50
MODEL_MESH_BYTES, MODEL_MESHES_BYTES = 64 * MIB, 512 * MIB
MODEL_LINKS = 500
MODEL_FACES = 3_000_000  # of all meshes together
MODEL_MEMORY_BYTES, MODEL_SECONDS = 6 * GIB, 120.0  # of the process that reads one
GIVEN_BODY_LETTERS = 2 * MIB  # a body as a text: a robot of 30 links has 60,000 letters
