"""The methods, without QGIS: numpy, scipy and shapely; usable as a library.

The three nouns are `areas.Areas`, `profile.Profile` and `crosswalk.Crosswalk`; every method ends in a crosswalk.
`configuration.aggregate` runs a whole configuration, `plan` suppresses, `release` applies it, `evaluation` measures.
"""
