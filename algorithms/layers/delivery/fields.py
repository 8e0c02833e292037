"""What the fields of an output are called for a reader, and what a map tip says of a feature.

The fields' own names are a promise to scripts and stay as they are; this is what QGIS shows in their place.
"""

from __future__ import annotations

import re
from html import escape

from qgis.core import QgsExpression, QgsField, QgsVectorLayer

from ....core.language import tr
from ...compat import kind_of
from .renderers import field_of

# By the name of a field that VBAS computes.
ALIASES = {
    "vbas_level": tr("Level (1 is the finest)"),
    "vbas_region": tr("Region"),
    "vbas_parent": tr("Region of the next level"),
    "vbas_values": tr("Values that this level shows"),
    "name": tr("Name"),
    "areas": tr("Areas joined"),
    "area_km2": tr("Surface, km²"),
    "released": tr("Records released"),
    "within": tr("Records released here or in regions within"),
    "population": tr("Population"),
    "records": tr("Records"),
    "suppressed": tr("Records suppressed"),
    "shown": tr("Records shown here"),
    "finer": tr("Records shown in finer regions"),
    "coarser": tr("Records shown only in coarser regions"),
    "anonymity": tr("Smallest class before suppression"),
    "smallest": tr("Smallest class shown here"),
    "classes": tr("Classes of quasi-identifiers"),
    "compactness": tr("Compactness: sum of distances to the site, m"),
    "distance": tr("Mean distance of the people from the middle, m"),
    "parts": tr("Pieces that do not touch"),
    "cells": tr("Cells joined"),
    "least": tr("Fewest people in any year"),
    "density": tr("People per km²"),
    "area_hull": tr("Share of the hull that is filled"),
    "sqrt_hull": tr("Side of a square as large as the hull"),
    "reason": tr("Why it is left out"),
    "district": tr("District"),
    "outcome": tr("What became of the point"),
    "point": tr("Number of the point"),
    "people": tr("People to hide among in the area"),
    "inner_m": tr("Inner radius, m"),
    "outer_m": tr("Outer radius, m"),
    "displacement": tr("Displacement, m"),
    "k_est": tr("Estimated anonymity, people"),
    "k_act": tr("Actual anonymity, households nearer by"),
    "home": tr("Home"),
    "members": tr("Points of the same home"),
    "candidates": tr("Addresses it may have come from"),
    "candidates_left": tr("Addresses left with the earlier place"),
    "category": tr("Category"),
    "households": tr("Households"),
    "not_masked": tr("Households that could not be masked"),
    "percent_below": tr("Below the wanted anonymity, %"),
    "percent_below_candidates": tr("With too few possible addresses, %"),
    "percent_not_masked": tr("Not masked, %"),
    "sub_areas": tr("Finer areas"),
    "density_variance": tr("Variance of the density of the finer areas"),
    "density_variation": tr("Variation of the density of the finer areas"),
    "k_inner": tr("Inner radius, people"),
    "k_outer": tr("Outer radius, people"),
    "k_min": tr("Wanted anonymity, households"),
    "site_number": tr("Number of regions by"),
    "site_location": tr("Sites by"),
    "aggregation": tr("Regions by"),
    "capacity_factor": tr("Capacity factor"),
    "n_sites": tr("Regions"),
    "suppression_percent": tr("Records suppressed, %"),
    "discernibility": tr("Discernibility"),
    "non_uniform_entropy": tr("Non-uniform entropy, bits"),
    "mean_distance": tr("Mean distance of the people from the middle, m"),
    "seconds": tr("Seconds"),
    "combination": tr("Combination of Croft et al. (2018)"),
    "pareto": tr("1 where no other is as good in all and better in one"),
    "problem": tr("Why it failed"),
    "k": "k",
    "budget": tr("Budget of suppression, %"),
    "generalised": tr("Coarser values"),
    "given_up": tr("What the coarser values give up, %"),
    "recommended": tr("1 where it is recommended"),
    "worst_group": tr("Group that loses most"),
    "worst_group_percent": tr("Of that group suppressed, %"),
    "kind": tr("What gives it away"),
    "releases": tr("Releases that give it away together"),
    "n_areas": tr("Number of areas"),
    "low": tr("At least so many people"),
    "high": tr("At most so many people"),
    "vbas_sensitive": tr("Sensitive value"),
    "vbas_records": tr("Records of the class"),
    "vbas_people": tr("People of the class"),
    "release": tr("Number of the release"),
    "title": tr("Title"),
    "time": tr("Added at"),
    "quasi_identifiers": tr("Quasi-identifiers"),
    "levels": tr("Levels"),
    "counts": tr("Counts"),
    "sensitive": tr("Sensitive fields"),
    "province": tr("Province"),
    "attribute": tr("Attribute"),
    "share": tr("Share"),
}
# The same of fields with a number in their name.
NUMBERED = (
    (re.compile(r"vbas_region_(\d+)"), tr("Region, level {}")),
    (re.compile(r"vbas_values_(\d+)"), tr("Fewest values of sensitive field {}")),
    (re.compile(r"vbas_share_(\d+)"), tr("Largest share of a value of sensitive field {}")),
    (re.compile(r"least_(\d+)"), tr("Fewest of population {} in any year")),
    (re.compile(r"lost_(.+)"), tr("Given up of {}, %")),
    (re.compile(r"below_(\d+(?:_\d+)?)"), tr("Below the wanted anonymity with inner radius {}, %")),
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
    "RELEASED_REGIONS": tr("Region"),
    "REGION_AUDIT": tr("Region"),
    "GROUPS": tr("Group"),
    "VORONOI": tr("Cell of region"),
    "SITE_POINTS": tr("Site of region"),
    "AREA_AUDIT": tr("Area"),
    "AUDIT": tr("Point"),
    "LEFT_OUT": tr("Left out"),
    "AREAS": tr("Area"),
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
    level = field_of(layer, "vbas_level")
    title = _title(kind, key, level)
    rows = [
        f"<tr><td>{escape(field.alias() or field.name())}&nbsp;</td><td><b>[% {_shown(field)} %]</b></td></tr>"
        for field in layer.fields()
        if field.name() not in (key, level, "fid")
    ]
    layer.setDisplayExpression(title)
    layer.setMapTipTemplate(f"<p><b>[% {title} %]</b></p><table>{''.join(rows)}</table>")


def _title(kind: str, key: str | None, level: str | None) -> str:
    """The expression of what a feature is called; key, level : the fields with its name and its level, if any."""
    if key is None:
        return QgsExpression.quotedString(kind)
    if level is None:
        words = tr("{kind} {name}", kind=kind, name=_NAME)
    else:
        words = tr("{kind} {name}, level {level}", kind=kind, name=_NAME, level=_LEVEL)
    fields = {_NAME: f'"{key}"', _LEVEL: f'"{level}"'}
    parts = [part for part in re.split(f"({_NAME}|{_LEVEL})", words) if part]
    return f"concat({', '.join(fields.get(part) or QgsExpression.quotedString(part) for part in parts)})"


# Where the values of these fields stand in a sentence: no translation holds such characters.
_NAME, _LEVEL = "\x01", "\x02"


def _shown(field: QgsField) -> str:
    """The expression of a value in a map tip: with separators, and a dash for no value."""
    name = f'"{field.name()}"'
    kind = kind_of(field)
    value = {"real": f"format_number({name}, 1)", "long": f"format_number({name}, 0)"}.get(str(kind), name)
    return f"if({name} IS NULL, '–', {value})"
