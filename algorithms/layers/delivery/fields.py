"""What the fields of an output are called for a reader, and what a map tip says of a feature.

The fields' own names are a promise to scripts and stay as they are; this is what QGIS shows in their place.
"""

from __future__ import annotations

import re
from html import escape

from qgis.core import QgsVectorLayer

from ...compat import kind_of
from .looks import field_of

# By the name of a field that VBAS computes.
ALIASES = {
    "vbas_level": "Level (1 is the finest)",
    "vbas_region": "Region",
    "vbas_parent": "Region of the next level",
    "vbas_values": "Values that this level shows",
    "name": "Name",
    "areas": "Areas joined",
    "area_km2": "Surface, km²",
    "released": "Records released",
    "within": "Records released here or in regions within",
    "population": "Population",
    "records": "Records",
    "suppressed": "Records suppressed",
    "shown": "Records shown here",
    "finer": "Records shown in finer regions",
    "coarser": "Records shown only in coarser regions",
    "anonymity": "Smallest class before suppression",
    "smallest": "Smallest class shown here",
    "classes": "Classes of quasi-identifiers",
    "compactness": "Compactness: sum of distances to the site, m",
    "distance": "Mean distance of the people from the middle, m",
    "parts": "Pieces that do not touch",
    "cells": "Cells joined",
    "least": "Fewest people in any year",
    "density": "People per km²",
    "area_hull": "Share of the hull that is filled",
    "sqrt_hull": "Side of a square as large as the hull",
    "reason": "Why it is left out",
    "district": "District",
    "outcome": "What became of the point",
    "point": "Number of the point",
    "people": "People to hide among in the area",
    "inner_m": "Inner radius, m",
    "outer_m": "Outer radius, m",
    "displacement": "Displacement, m",
    "k_est": "Estimated anonymity, people",
    "k_act": "Actual anonymity, households nearer by",
    "home": "Home",
    "members": "Points of the same home",
    "candidates": "Addresses it may have come from",
    "candidates_left": "Addresses left with the earlier place",
    "category": "Category",
    "households": "Households",
    "not_masked": "Households that could not be masked",
    "percent_below": "Below the wanted anonymity, %",
    "percent_below_candidates": "With too few possible addresses, %",
    "percent_not_masked": "Not masked, %",
    "sub_areas": "Finer areas",
    "density_variance": "Variance of the density of the finer areas",
    "density_variation": "Variation of the density of the finer areas",
    "k_inner": "Inner radius, people",
    "k_outer": "Outer radius, people",
    "k_min": "Wanted anonymity, households",
    "site_number": "Number of regions by",
    "site_location": "Sites by",
    "aggregation": "Regions by",
    "capacity_factor": "Capacity factor",
    "n_sites": "Regions",
    "suppression_percent": "Records suppressed, %",
    "discernibility": "Discernibility",
    "non_uniform_entropy": "Non-uniform entropy, bits",
    "mean_distance": "Mean distance of the people from the middle, m",
    "seconds": "Seconds",
    "combination": "Combination of Croft et al. (2018)",
    "pareto": "1 where no other is as good in all and better in one",
    "problem": "Why it failed",
    "k": "k",
    "budget": "Budget of suppression, %",
    "generalised": "Coarser values",
    "given_up": "What the coarser values give up, %",
    "recommended": "1 where it is recommended",
    "worst_group": "Group that loses most",
    "worst_group_percent": "Of that group suppressed, %",
    "kind": "What gives it away",
    "releases": "Releases that give it away together",
    "n_areas": "Number of areas",
    "low": "At least so many people",
    "high": "At most so many people",
    "vbas_sensitive": "Sensitive value",
    "vbas_records": "Records of the class",
    "vbas_people": "People of the class",
    "release": "Number of the release",
    "title": "Title",
    "time": "Added at",
    "quasi_identifiers": "Quasi-identifiers",
    "levels": "Levels",
    "counts": "Counts",
    "sensitive": "Sensitive fields",
    "province": "Province",
    "attribute": "Attribute",
    "share": "Share",
}
# The same of fields with a number in their name.
NUMBERED = (
    (re.compile(r"vbas_region_(\d+)"), "Region, level {}"),
    (re.compile(r"vbas_values_(\d+)"), "Different values of sensitive field {}"),
    (re.compile(r"vbas_share_(\d+)"), "Largest share of a value of sensitive field {}"),
    (re.compile(r"least_(\d+)"), "Fewest of population {} in any year"),
    (re.compile(r"lost_(.+)"), "Given up of {}, %"),
    (re.compile(r"below_(\d+(?:_\d+)?)"), "Below the wanted anonymity with inner radius {}, %"),
)
# Outputs that hold fields of the user's own beside these: one of these names there is the user's.
OWN = {
    "RELEASED_RECORDS": ("vbas_level", "vbas_region", "records"),
    "FLATTENED": ("vbas_level", "vbas_region", "records"),
    "PROFILE": ("records",),
    "CROSSWALK": ("vbas_region",),
    "RECORDS": (),
    "MASKED": (),
    "CHECK": ("vbas_records", "vbas_people"),
    "AREAS": ("population", "district"),
}
# Outputs of which a click or the pointer on a feature tells the figures, and what a feature of them is.
TOLD = {
    "RELEASED_REGIONS": "Region",
    "REGION_AUDIT": "Region",
    "GROUPS": "Group",
    "VORONOI": "Cell of region",
    "SITE_POINTS": "Site of region",
    "AREA_AUDIT": "Area",
    "AUDIT": "Point",
    "LEFT_OUT": "Left out",
    "AREAS": "Area",
}
NAMED_BY = ("vbas_region", "area", "cell", "point", "DAUID", "id")


def alias_of(output: str, field: str) -> str:
    """What a computed field is called for a reader; empty for a field of the user's own."""
    for pattern, words in NUMBERED:
        match = pattern.fullmatch(field)
        if match is not None and (output not in OWN or field.startswith("vbas_")):
            return words.format(match[1].replace("_", ".") if match[1][0].isdigit() else match[1])
    return "" if output in OWN and field not in OWN[output] else ALIASES.get(field, "")


def name_fields(layer: QgsVectorLayer, output: str) -> None:
    """Give the computed fields of an output their aliases, in whatever case or length the format keeps names."""
    for field in {*ALIASES, *layer.fields().names()}:
        there, alias = field_of(layer, field), alias_of(output, field)
        if there is not None and alias:
            layer.setFieldAlias(layer.fields().indexOf(there), alias)


def tell_features(layer: QgsVectorLayer, output: str) -> None:
    """Have a click and a map tip show the figures of a feature, by their aliases."""
    kind = TOLD.get(output)
    if kind is None:
        return
    key = next((there for name in NAMED_BY if (there := field_of(layer, name)) is not None), None)
    title = f"'{kind}'" if key is None else f"concat('{kind} ', \"{key}\")"
    level = field_of(layer, "vbas_level")
    if level is not None:
        title = f"concat({title}, ', level ', \"{level}\")"
    rows = [
        f"<tr><td>{escape(field.alias() or field.name())}&nbsp;</td><td><b>[% {_shown(field)} %]</b></td></tr>"
        for field in layer.fields()
        if field.name() not in (key, level, "fid")
    ]
    layer.setDisplayExpression(title)
    layer.setMapTipTemplate(f"<p><b>[% {title} %]</b></p><table>{''.join(rows)}</table>")


def _shown(field: object) -> str:
    """The expression of a value in a map tip: with separators, and a dash for no value."""
    name = f'"{field.name()}"'  # type: ignore[attr-defined]
    kind = kind_of(field)  # type: ignore[arg-type]
    value = {"real": f"format_number({name}, 1)", "long": f"format_number({name}, 0)"}.get(str(kind), name)
    return f"if({name} IS NULL, '–', {value})"
