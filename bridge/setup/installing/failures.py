# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an installation failed, from what pip wrote: it ends most of its failures with 'No matching distribution'."""

import re
from dataclasses import dataclass

from .run import PYTHON


@dataclass(frozen=True)
class InstallationFailure:
    """What was in the way, and what to do about it, '' where nobody knows."""

    what: str
    fix: str = ""


_WITHOUT_NETWORK = "Or choose a Python that has everything in Sinew's preferences"

# The first pattern that is found counts: what pip met on the way comes before what it concludes from that. … is what
# the pattern's group holds.
_KNOWN = (
    (
        r"CERTIFICATE_VERIFY_FAILED.*?(expired|not yet valid)",
        "The certificate of the package index is …",
        "See whether this computer's date is right, and try again",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED[^:]*: ([^(\n]*[^(\n ])",
        "The package index could not be trusted: …",
        (
            "A proxy or virus scanner may be looking in. Set the environment variable PIP_CERT to the file with its "
            "certificate, which who runs the network has, and start Blender again"
        ),
    ),
    (
        r"problem confirming the ssl certificate|SSLError\(",
        "No secure connection to the package index could be made",
        "See whether a proxy or virus scanner stands between, and set PIP_CERT to its certificate",
    ),
    (
        r"407 Proxy Authentication Required",
        "The network's proxy asks for a name and a password",
        "Set the environment variable HTTPS_PROXY to http://name:password@proxy:port and start Blender again",
    ),
    (
        r"ProxyError|Cannot connect to proxy",
        "The network's proxy does not answer",
        "Mend or unset the environment variables HTTPS_PROXY and HTTP_PROXY, and start Blender again",
    ),
    (
        (
            r"NameResolutionError|Name or service not known|getaddrinfo failed|nodename nor servname|"
            r"Temporary failure in name resolution"
        ),
        "There is no network, or it does not know the package index",
        f"Connect this computer to the internet and try again. {_WITHOUT_NETWORK}",
    ),
    (
        r"No space left on device|Errno 28|not enough space on the disk|Disk quota exceeded",
        "The disk is full",
        "Make room: PyTorch takes 900 MB in your user data folder",
    ),
    (
        r"(?:Read-only file system|Permission denied|Access is denied)[^'\n]*'([^'\n]*)'",
        "Nothing may be written to '…'",
        "See that your user data folder is yours to write: packages are kept there",
    ),
    (
        r"Read-only file system|Permission denied|Access is denied",
        "Nothing may be written where Sinew keeps its packages",
        "See that your user data folder is yours to write: packages are kept there",
    ),
    (
        (
            r"Failed to establish a new connection|Connection refused|ConnectTimeout|ReadTimeout|Read timed out|"
            r"Connection reset|RemoteDisconnected|Network is unreachable|No route to host"
        ),
        "The package index does not answer",
        f"See whether this computer is online and whether a firewall is in the way, and try again. {_WITHOUT_NETWORK}",
    ),
    (
        r"ERROR: https://([\w.]+)/\S* does not answer",
        "… does not answer, which has PyTorch for this system",
        f"See whether this computer is online and whether a firewall is in the way, and try again. {_WITHOUT_NETWORK}",
    ),
    (
        r"DO NOT MATCH THE HASHES|Hash mismatch|invalid wheel|BadZipFile|IncompleteRead",
        "What was downloaded is damaged, or is not what Sinew knows; nothing of it was installed",
        "Try again, from another network if need be",
    ),
)
_NONE_FITS = re.compile(r"No matching distribution found for ([^\s;]+)")
_ERRORS = ("ERROR", "ModuleNotFoundError", "ImportError", "OSError")


def explain_failure(whole: str) -> InstallationFailure:
    """What the whole log of a failed installation says."""
    # What was met before a step that went well is not what failed.
    log = re.split(r"^(?:Successfully installed|Trying out) .*$", whole, flags=re.MULTILINE)[-1]
    for pattern, what, fix in _KNOWN:
        if found := re.search(pattern, log):
            return InstallationFailure(what.replace("…", "".join(found.groups())), fix)
    if found := _NONE_FITS.search(log):
        python = re.search(rf"^{PYTHON}(.*)$", whole, re.MULTILINE)
        whom = python[1].strip() if python else "this Python"
        return InstallationFailure(
            f"The package index has no {found[1]} for {whom}",
            "Choose another Python in Sinew's preferences; 3.11, 3.13 and 3.14 have everything",
        )
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(_ERRORS)]
    return InstallationFailure((errors or lines or ["It ended without a word"])[-1])
