"""Packages of test extensions."""

import json
import zipfile
from pathlib import Path

_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>"""
_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
<DisplayName>{name}</DisplayName><Description>{description}</Description></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"
 Addressable="true"/></Assets></PackageManifest>"""


def pack(folder: Path, vsix: Path) -> Path:
    """Create the package of an extension that needs no build."""
    manifest = json.loads((folder / "package.json").read_text("utf-8"))
    with zipfile.ZipFile(vsix, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("extension.vsixmanifest", _MANIFEST.format(**manifest))
        for path in sorted(folder.iterdir()):
            archive.write(path, f"extension/{path.name}")
    return vsix
