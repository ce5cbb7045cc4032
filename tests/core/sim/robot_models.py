# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models of robots as texts: two legs with hinges in a row, two arms; of the two formats."""

_INERTIAL = '<inertial pos="0 0 {z}" mass="{mass}" diaginertia="{i} {i} {i}"/>'


def _leg(side: str, y: float) -> str:
    own = _INERTIAL.format(z=-0.1, mass=1.5, i=0.01)
    return f"""
    <body name="{side}_hip_pitch" pos="0 {y} -0.05">
      {_INERTIAL.format(z=0, mass=0.5, i=0.001)}
      <joint name="{side}_hip_pitch_joint" axis="0 1 0" range="-2 2" actuatorfrcrange="-88 88"/>
      <body name="{side}_hip_roll" pos="0 0 -0.03">
        {_INERTIAL.format(z=0, mass=0.5, i=0.001)}
        <joint name="{side}_hip_roll_joint" axis="1 0 0" range="-1 1"/>
        <body name="{side}_thigh" pos="0 0 -0.02">
          {own}<joint name="{side}_hip_yaw_joint" axis="0 0 1" range="-1 1"/>
          <geom type="capsule" size="0.05" fromto="0 0 -0.05 0 0 -0.2"/>
          <body name="{side}_knee" pos="0 0 -0.25">
            {own}<joint name="{side}_knee_joint" axis="0 1 0" range="-0.1 2.5"/>
            <geom type="capsule" size="0.04" fromto="0 0 -0.05 0 0 -0.2"/>
            <body name="{side}_foot" pos="0 0 -0.25">
              {_INERTIAL.format(z=-0.02, mass=0.5, i=0.001)}
              <joint name="{side}_ankle_pitch_joint" axis="0 1 0" range="-1 1"/>
              <joint name="{side}_ankle_roll_joint" axis="1 0 0" range="-0.5 0.5"/>
              <geom type="box" size="0.1 0.05 0.02" pos="0.03 0 -0.03"/>
            </body>
          </body>
        </body>
      </body>
    </body>"""


def _arm(side: str, y: float) -> str:
    own = _INERTIAL.format(z=-0.1, mass=0.8, i=0.004)
    return f"""
      <body name="{side}_shoulder" pos="0 {y} 0.3">
        {own}<joint name="{side}_shoulder_joint" type="ball"/>
        <geom type="capsule" size="0.03" fromto="0 0 -0.03 0 0 -0.18"/>
        <body name="{side}_elbow" pos="0 0 -0.22">
          {own}<joint name="{side}_elbow_joint" axis="0 1 0" range="-2 0.1"/>
          <geom type="capsule" size="0.03" fromto="0 0 -0.03 0 0 -0.18"/>
        </body>
      </body>"""


MJCF = f"""<mujoco model="tin">
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="pelvis" pos="0 0 0.7">
      {_INERTIAL.format(z=0, mass=5, i=0.05)}
      <geom type="box" size="0.1 0.12 0.06"/>
      {_leg("left", 0.1)}{_leg("right", -0.1)}
      <body name="torso" pos="0 0 0.08">
        <inertial pos="0.01 0 0.15" mass="8" fullinertia="0.12 0.11 0.05 0.001 0.002 0.003"/>
        <joint name="waist" axis="0 0 1" range="-1 1"/>
        <geom type="box" size="0.1 0.14 0.15" pos="0 0 0.15"/>
        {_arm("left", 0.2)}{_arm("right", -0.2)}
      </body>
    </body>
  </worldbody>
</mujoco>"""


def urdf(links: str = "", joints: str = "", base: str = '<mass value="5"/>') -> str:
    """A model with a base that is a box, and what is given besides."""
    return f"""<robot name="tin">
  <link name="base">
    <inertial>{base}<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision>
  </link>
  {links}{joints}
</robot>"""


def urdf_link(name: str, mass: float = 1.0, more: str = "") -> str:
    """A link that is a ball; without mass where that is 0."""
    weighs = f'<inertial><mass value="{mass}"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
    inertial = f"{weighs}</inertial>" if mass else ""
    return f'<link name="{name}">{inertial}{more}</link>'


def urdf_joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    """A joint about X, with limits and an effort."""
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
      <axis xyz="1 0 0"/><origin xyz="0 0 -0.1"/><limit lower="-1" upper="1" effort="7" velocity="1"/>{more}</joint>"""
