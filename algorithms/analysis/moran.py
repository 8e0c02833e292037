"""Moran's I of a release."""

from __future__ import annotations

import numpy as np

from ...core.analysis.moran import NOT_TOLD, moran
from ...core.analysis.outcome import p_text
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.neighbours import neighbours_of
from ...core.tables.analysis import LOCAL_MORAN
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..layers.tables import filled
from .outcomes import OUTCOME_CONDITIONS, draw_parameters, outcome_parameters, read_outcome
from .released import spread_parameters


class Moran(VbasAlgorithm):
    """`vbas:moran`."""

    ID = "moran"
    TAGS = as_data("spatial autocorrelation,LISA,local,Moran,nested")
    SUMMARY = tr("Tests whether neighbouring areas have alike rates, at a level that holds for spread records.")
    HELP = tr(
        "<p>Moran's I says how alike the rates of neighbouring areas are. Records that are spread over a region make "
        "its areas alike, so the usual test finds a pattern in every release. Here the outcome is given to the "
        "records at random, spread and computed again: only what goes beyond that counts.</p><p>Each area has its "
        "local I, too. Its p-value is that of the largest local I of the whole map, so that a map without a pattern "
        "shows none in 95 of 100 cases.</p><p><b>What it cannot do.</b> Study a quasi-identifier, or a release of "
        "cases alone: where cases are shown then depends on how many there are. Without a pattern I is not 0 but what "
        "the log calls expected.</p><p>Moran 1950: Notes on continuous stochastic phenomena. Anselin 1995: Local "
        "indicators of spatial association.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *outcome_parameters(), *draw_parameters(), *spread_parameters(), shared.sink(LOCAL_MORAN, optional=True)
        )
        self.addNumbers(
            N_RECORDS=tr("Records at risk"),
            N_CASES=tr("Cases"),
            MORANS_I=tr("Moran's I"),
            EXPECTED_I=tr("Moran's I by chance, through the release"),
            SD_I=tr("Its standard deviation by chance"),
            Z=tr("Standard deviations above chance"),
            P_VALUE=tr("p-value"),
            N_AREAS=tr("Areas told from chance"),
        )

    def conditions(self) -> Conditions:
        return OUTCOME_CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        release, outcome = read_outcome(form, tested=True)
        layer = release.layer.with_neighbours(form.progress(30, 40))
        neighbours = neighbours_of(layer.areas)
        if not len(neighbours.pairs()[0]):
            raise InputError.saying("No area of REGIONS has a neighbour: Moran's I needs some.")
        statistics = moran(neighbours, outcome, form.whole("DRAWS"), form.whole("SEED"), form.progress(40, 90))
        form.info(
            tr(
                "Moran's I is {index:.3f}; by chance, through this release, it would be {expected:.3f} (standard "
                "deviation {deviation:.3f}): p = {p}.",
                index=statistics.index,
                expected=statistics.expected,
                deviation=statistics.deviation,
                p=p_text(statistics.p_value),
            )
        )
        significant = statistics.local_p <= form.number("SIGNIFICANCE")
        form.info(
            plural(
                "{n} area has a local I so large as chance gives anywhere in at most {percent:g} of 100 maps.",
                "{n} areas have a local I so large as chance gives anywhere in at most {percent:g} of 100 maps.",
                int(significant.sum()),
                percent=100 * form.number("SIGNIFICANCE"),
            )
        )
        shapes = layer.surfaces
        columns = {
            "cases": outcome.cases_by_area,
            "expected": outcome.expected,
            "local_i": statistics.local,
            "p_value": statistics.local_p,
            "pattern": np.where(significant, statistics.kind, NOT_TOLD).tolist(),
        }
        own = [(layer.id_field, layer.identifiers)]
        form.outputs.add("LOCAL_MORAN", filled(LOCAL_MORAN, columns, statistics, own=own, shapes=shapes, crs=layer.crs))
        return {
            "N_RECORDS": outcome.n_at_risk,
            "N_CASES": outcome.n_cases,
            "MORANS_I": statistics.index,
            "EXPECTED_I": statistics.expected,
            "SD_I": statistics.deviation,
            "Z": statistics.z,
            "P_VALUE": statistics.p_value,
            "N_AREAS": int(significant.sum()),
        }
