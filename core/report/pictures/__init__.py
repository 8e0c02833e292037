"""Pictures for reports: maps and charts as SVG, which need no script and no network."""

from .charts import Point, bars, cloud, histogram, horizontal_bars, lines, scatter, sizes, spread
from .maps import BLUES, GREENS, REDS, in_hull, region_map

__all__ = [
    "BLUES",
    "GREENS",
    "REDS",
    "Point",
    "bars",
    "cloud",
    "histogram",
    "horizontal_bars",
    "in_hull",
    "lines",
    "region_map",
    "scatter",
    "sizes",
    "spread",
]
