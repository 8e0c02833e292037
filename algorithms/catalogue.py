"""All algorithms of the toolbox, in its order."""

from __future__ import annotations

from .analysis.cluster_scan import ClusterScan
from .analysis.moran import Moran
from .analysis.rate_map import RateMap
from .analysis.spread_release import SpreadRelease
from .anonymize import Anonymize
from .anonymize_linked import AnonymizeLinked
from .baselines.crop_identifiers import CropIdentifiers
from .baselines.merge_adjacent import MergeAdjacent
from .baselines.static_cutoff import StaticCutoff
from .cells.dot_map import DotMap
from .cells.mend_partition import MendPartition
from .cells.partition_cells import PartitionCells
from .compare import Compare
from .databases.anonymize_database import AnonymizeDatabase
from .databases.profile_database import ProfileDatabase
from .databases.release_database import ReleaseDatabase
from .form.base import VbasAlgorithm
from .nested.flatten_release import FlattenRelease
from .nested.nest_levels import NestLevels
from .points.donut_audit import DonutAudit
from .points.donut_mask import DonutMask
from .privacy.check_release import CheckRelease
from .privacy.check_releases import CheckReleases
from .privacy.edit_register import EditRegister
from .steps.aggregate import Aggregate
from .steps.evaluate import Evaluate
from .steps.locate_allocate import LocateAllocate
from .steps.profile_records import ProfileRecords
from .steps.release_records import ReleaseRecords
from .steps.site_location import SiteLocation
from .steps.site_number import SiteNumber
from .steps.update_release import UpdateRelease
from .testdata.demonstration_city import DemonstrationCity
from .testdata.estimate_distributions import EstimateDistributions
from .testdata.generate_records import GenerateRecords

ALGORITHMS: tuple[type[VbasAlgorithm], ...] = (
    Anonymize,
    AnonymizeLinked,
    ProfileRecords,
    SiteNumber,
    SiteLocation,
    Aggregate,
    LocateAllocate,
    NestLevels,
    ReleaseRecords,
    UpdateRelease,
    Evaluate,
    FlattenRelease,
    AnonymizeDatabase,
    ProfileDatabase,
    ReleaseDatabase,
    Compare,
    CheckRelease,
    CheckReleases,
    EditRegister,
    StaticCutoff,
    CropIdentifiers,
    MergeAdjacent,
    EstimateDistributions,
    GenerateRecords,
    DemonstrationCity,
    DonutMask,
    DonutAudit,
    PartitionCells,
    MendPartition,
    DotMap,
    SpreadRelease,
    RateMap,
    ClusterScan,
    Moran,
)
