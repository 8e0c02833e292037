"""Upload the zip to the QGIS plugin site:  publish.py build/vbas-1.0.0.zip

OSGEO_USER and OSGEO_PASSWORD name the account. It refuses a package with any finding, or without real addresses.
"""

from __future__ import annotations

import os
import sys
import xmlrpc.client
from pathlib import Path
from typing import Any

from site_checks import metadata_of, problems, unreal_addresses

SITE = "https://plugins.qgis.org/plugins/RPC2/"


class SignedTransport(xmlrpc.client.SafeTransport):
    """Signs in by the header, so that the password stands in no address."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__()
        self._account = f"{user}:{password}"

    def get_host_info(self, host: object) -> tuple[str, list[tuple[str, str]], dict]:
        """The host, with the header that signs in."""
        return super().get_host_info(f"{self._account}@{host}")  # xmlrpc makes the header of what stands before @


def main() -> int:
    """Check once more, then upload."""
    package = Path(sys.argv[1])
    wrong = [*problems(package), *unreal_addresses(metadata_of(package))]
    if wrong:
        print(*(f"refused: {problem}" for problem in wrong), sep="\n", file=sys.stderr)
        return 1
    user, password = os.environ["OSGEO_USER"], os.environ["OSGEO_PASSWORD"]
    server = xmlrpc.client.ServerProxy(SITE, transport=SignedTransport(user, password))
    uploaded: Any = server.plugin.upload(xmlrpc.client.Binary(package.read_bytes()))
    plugin, version = uploaded
    print(f"Uploaded: plugin {plugin}, version {version}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
