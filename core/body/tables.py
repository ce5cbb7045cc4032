# SPDX-License-Identifier: GPL-3.0-or-later
"""Body segments as measured on people.

P. de Leva (1996), Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, Journal of Biomechanics 29(9),
1223-1230, Table 4: 100 men (73.0 kg, 1.741 m) and 15 women (61.9 kg, 1.735 m). Each line is segment length in mm,
mass in % of body mass, then in % of segment length the centre of mass from the named first end, and the radii of
gyration about the sagittal (front to back), the transverse (side to side) and the longitudinal axis.
"""

from dataclasses import dataclass

DENSITY = 985.0  # kg/m³, the body's average that DReCon (Bergamin et al. 2019, section 4.2) uses

_MEN_STATURE_MM, _WOMEN_STATURE_MM = 1741.0, 1735.0

_MEN = {
    "head": (242.9, 6.94, 50.02, 30.3, 31.5, 26.1),  # vertex to cervicale (C7)
    "upper_trunk": (242.1, 15.96, 50.66, 50.5, 32.0, 46.5),  # cervicale to xiphion
    "middle_trunk": (215.5, 16.33, 45.02, 48.2, 38.3, 46.8),  # xiphion to navel
    "lower_trunk": (145.7, 11.17, 61.15, 61.5, 55.1, 58.7),  # navel to middle of the hip joints
    "upper_arm": (281.7, 2.71, 57.72, 28.5, 26.9, 15.8),  # shoulder to elbow joint
    "forearm": (268.9, 1.62, 45.74, 27.6, 26.5, 12.1),  # elbow to wrist joint
    "hand": (187.9, 0.61, 36.24, 28.8, 23.5, 18.4),  # wrist joint to tip of the third finger
    "thigh": (422.2, 14.16, 40.95, 32.9, 32.9, 14.9),  # hip to knee joint
    "shin": (440.3, 4.33, 43.95, 25.1, 24.6, 10.2),  # knee to ankle joint
    "foot": (258.1, 1.37, 44.15, 25.7, 24.5, 12.4),  # heel to tip of the toes
}
_WOMEN = {
    "head": (243.7, 6.68, 48.41, 27.1, 29.5, 26.1),
    "upper_trunk": (228.0, 15.45, 50.50, 46.6, 31.4, 44.9),
    "middle_trunk": (205.3, 14.65, 45.12, 43.3, 35.4, 41.5),
    "lower_trunk": (181.5, 12.47, 49.20, 43.3, 40.2, 44.4),
    "upper_arm": (275.1, 2.55, 57.54, 27.8, 26.0, 14.8),
    "forearm": (264.3, 1.38, 45.59, 26.1, 25.7, 9.4),
    "hand": (172.0, 0.56, 34.27, 24.4, 20.8, 15.4),
    "thigh": (368.5, 14.78, 36.12, 36.9, 36.4, 16.2),
    "shin": (438.6, 4.81, 43.52, 26.7, 26.3, 9.2),
    "foot": (228.3, 1.29, 40.14, 29.9, 27.9, 13.9),
}
PAIRED = frozenset({"upper_arm", "forearm", "hand", "thigh", "shin", "foot"})

# Parts of body mass of a four-legged animal, one side: the mean of three Thoroughbreds, K. Kubo et al. (1992),
# Segmental body weight, volume and mass center in Thoroughbred horses, Japanese Journal of Equine Science 3(2),
# 149-155. Their scapula goes with the upper arm, and what is below the carpus and the tarsus with hand and foot. A tail
# is counted as ten times a horse's, for a horse's is hair.
QUADRUPED_SEGMENTS = {
    "trunk": 0.595,
    "head": 0.044,
    "neck": 0.070,
    "upper_arm": 0.046,
    "forearm": 0.009,
    "hand": 0.005,
    "thigh": 0.069,
    "shin": 0.010,
    "foot": 0.007,
    "tail": 0.010,
}


@dataclass(frozen=True)
class Segment:
    """A segment of the average person.

    length: of stature. mass: of body mass, one side. com: of segment length from its first end. radii: of segment
    length, about the sagittal, transverse and longitudinal axes.
    """

    length: float
    mass: float
    com: float
    radii: tuple[float, float, float]


def _mean(name: str) -> Segment:
    men, women = _MEN[name], _WOMEN[name]
    length = 0.5 * (men[0] / _MEN_STATURE_MM + women[0] / _WOMEN_STATURE_MM)
    mass, com, sagittal, transverse, longitudinal = (0.005 * (m + w) for m, w in zip(men[1:], women[1:], strict=True))
    return Segment(length, mass, com, (sagittal, transverse, longitudinal))


# Between the men's and the women's column: a skeleton does not say which it is.
SEGMENTS = {name: _mean(name) for name in _MEN}

ANKLE_HEIGHT = 0.039  # of stature, sole to ankle joint: Winter (2009), Biomechanics and Motor Control, figure 4.1
HEAD_HEIGHT = SEGMENTS["head"].length  # of stature, cervicale to vertex


def mass_fractions(head: float | None = None) -> dict[str, float]:
    """Each segment's part of body mass, one side; all sides together are 1.

    head: another part for the head, the rest shared out as before. A child's head is heavier: R. K. Jensen (1986),
    Body segment mass, radius and radius of gyration proportions of children, Journal of Biomechanics 19(5), 359-368.
    """
    total = sum(segment.mass * (2 if name in PAIRED else 1) for name, segment in SEGMENTS.items())
    fractions = {name: segment.mass / total for name, segment in SEGMENTS.items()}
    if head is None:
        return fractions
    rest = (1.0 - head) / (1.0 - fractions["head"])
    return {name: head if name == "head" else part * rest for name, part in fractions.items()}
