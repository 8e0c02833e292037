"""All algorithms of the toolbox, in its order."""

from __future__ import annotations

from .aggregate import Aggregate
from .anonymize import Anonymize
from .base import VbasAlgorithm
from .compare import Compare
from .crop_identifiers import CropIdentifiers
from .demonstration_city import DemonstrationCity
from .donut_audit import DonutAudit
from .donut_mask import DonutMask
from .estimate_distributions import EstimateDistributions
from .evaluate import Evaluate
from .generate_records import GenerateRecords
from .locate_allocate import LocateAllocate
from .merge_adjacent import MergeAdjacent
from .partition_cells import PartitionCells
from .profile_records import ProfileRecords
from .release_records import ReleaseRecords
from .site_location import SiteLocation
from .site_number import SiteNumber
from .static_cutoff import StaticCutoff

ALGORITHMS: tuple[type[VbasAlgorithm], ...] = (
    Anonymize,
    ProfileRecords,
    SiteNumber,
    SiteLocation,
    Aggregate,
    LocateAllocate,
    ReleaseRecords,
    Evaluate,
    Compare,
    StaticCutoff,
    CropIdentifiers,
    MergeAdjacent,
    EstimateDistributions,
    GenerateRecords,
    DemonstrationCity,
    DonutMask,
    DonutAudit,
    PartitionCells,
)
