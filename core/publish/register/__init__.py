"""The register: a GeoPackage of what was published, and of nothing else.

It holds a row per release, the region of each area at each level, the counts that are shown, and of sensitive fields
that are released how many people of each count have which value, and where masked points were shown: no record, no
count that is suppressed, no true place. Beside them what was said of a release: its series, for whom it was, and for
which purpose. So it is no more sensitive than the releases themselves. Large releases are packed (`packs`).
"""
