"""Four areas and eight people, for examples."""

from __future__ import annotations

from ..areas import Areas, make_areas
from ..crosswalk import Crosswalk, crosswalk_from_table
from ..records.columns import column_from_values
from ..records.matching import Records, match_records
from ..records.table import RecordTable


def hamlet() -> tuple[Areas, Records, Crosswalk]:
    """The areas a and b, and 900 m from them c and d; two people in each, by sex; a region of each pair.

    Women and men live in a, b and c, two women in d: at k = 2 the man of the second region is alone.
    """
    areas = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)], [30, 40, 20, 10])
    homes, sexes = column_from_values(list("aabbccdd")), column_from_values(list("FMFMFMFF"))
    records = match_records(RecordTable(homes, {"sex": sexes}, kept={}), areas)
    return areas, records, crosswalk_from_table(areas, list("abcd"), [1, 1, 2, 2])
