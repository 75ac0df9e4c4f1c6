"""Unpacks wheels into the environment whose interpreter runs this.

They are pure Python without programs of their own, so unpacking is all that pip would do; and pip
is not everywhere: Debian's Python comes without.
"""

import sys
import sysconfig
import zipfile


def main(wheels: "list[str]") -> None:
    """Unpack wheels, given by their paths."""
    site = sysconfig.get_path("purelib")
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)


if __name__ == "__main__":
    main(sys.argv[1:])
