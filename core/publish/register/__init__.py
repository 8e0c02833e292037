"""The register: a GeoPackage of what was published, and of nothing else.

It holds a row per release, the region of each area at each level, the counts that are shown, how many rows of each
count show which values of sensitive and kept fields, and where masked points were shown: no record that was not
released, no count that is suppressed, no true place. Beside them what was said of a release: its series, for whom it
was, and for which purpose. So it is no more sensitive than the releases themselves. Large releases are packed
(`packs`).
"""
