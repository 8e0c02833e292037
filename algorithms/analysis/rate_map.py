"""A map of rates made from a release."""

from __future__ import annotations

import numpy as np

from ...core.analysis.rates import KERNEL, SMOOTHINGS, rate_map
from ...core.language import as_data, tr
from ...core.tables.analysis import RATE_MAP
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..layers.tables import filled
from .outcomes import OUTCOME_CONDITIONS, outcome_parameters, read_outcome
from .released import spread_parameters


class RateMap(VbasAlgorithm):
    """`vbas:ratemap`."""

    ID = "ratemap"
    TAGS = as_data("disease map,prevalence,incidence,standardised ratio,smoothing,kernel,empirical Bayes,nested")
    SUMMARY = tr("Maps rates by area from a release: smoothed, with what chance and hidden places leave open.")
    HELP = tr(
        "<p>Spreads the records of a release over the areas where they may live, and gives each area its cases, its "
        "people at risk and the ratio of cases to those expected. The rate of a small area varies by chance, so "
        "ratios are smoothed: by a kernel, which takes in what is near, or towards the rate of all (empirical Bayes), "
        "the more the fewer cases are expected.</p><p>The width of the kernel is the one that foretells best which "
        "records are cases: it is chosen from the release alone.</p><p><b>Read it with its interval.</b> What the "
        "release hides adds to chance: a record that is shown in a region may live in any of its areas. Both are in "
        "the interval; what smoothing takes off a peak is not, nor what spreading over a region takes off, so where "
        "neighbours differ it misses an area's own rate more often than it should. Each record is taken for a person: "
        "where people have several, it is too narrow. Hatched areas are not told from the rest; of those that are, "
        "some differ by chance, up to one in twenty of an even map.</p><p>Marshall 1991: Mapping disease and mortality "
        "rates using empirical Bayes estimators.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *outcome_parameters(),
            shared.choice(
                "SMOOTHING",
                tr("Smoothing"),
                SMOOTHINGS,
                KERNEL,
                tr(
                    "“kernel”: by distance; “empirical Bayes”: towards the rate of all; “none”: the ratios as they are."
                ),
            ),
            shared.number(
                "BANDWIDTH",
                tr("Width of the kernel, metres"),
                0.0,
                tr(
                    "The distance at which an area weighs .61 of what it weighs for itself; 0: chosen from the release."
                ),
                0.0,
                advanced=True,
            ),
            shared.number(
                "PER",
                tr("Rate per so many people"),
                1_000.0,
                tr("The unit of the field “rate”."),
                1.0,
                advanced=True,
            ),
            *spread_parameters(),
            shared.seed(),
            shared.sink(RATE_MAP),
        )
        self.addNumbers(
            N_RECORDS=tr("Records at risk"),
            N_CASES=tr("Cases"),
            OVERALL_RATE=tr("Rate of all, per PER people"),
            BANDWIDTH_USED=tr("Width of the kernel, metres"),
        )

    def conditions(self) -> Conditions:
        return {**OUTCOME_CONDITIONS, "BANDWIDTH": [{"SMOOTHING": [KERNEL]}], "SEED": [{"SMOOTHING": [KERNEL]}]}

    def work(self, form: Form) -> dict[str, object]:
        release, outcome = read_outcome(form, tested=False)
        layer, per = release.layer, form.number("PER")
        rates = rate_map(
            layer.areas.points,
            outcome,
            form.text("SMOOTHING"),
            form.number("BANDWIDTH"),
            form.whole("SEED"),
            form.progress(30, 90),
        )
        at_risk = outcome.denominator
        rate = outcome.n_cases / float(at_risk.sum())
        if rates.bandwidth:
            form.info(tr("The kernel is {metres:.0f} m wide.", metres=rates.bandwidth))
        hidden = rates.hidden_share[np.isfinite(rates.hidden_share)]
        significant = (rates.ratio_high < 1) | (rates.ratio_low > 1)
        form.info(
            tr(
                "{told} of {n} areas are told from the rate of all. What the release hides makes up {percent:.0f} % of "
                "the variance of the ratios, on average.",
                told=int(significant.sum()),
                n=len(at_risk),
                percent=100 * float(np.mean(hidden)) if len(hidden) else 0.0,
            )
        )
        shapes, surface = layer.surfaces, layer.surfaces_square_metres
        columns = {"at_risk": at_risk, "rate": rates.ratio * rate * per, "area_km2": surface / 1e6}
        own = [(layer.id_field, layer.identifiers)]
        form.outputs.add("RATE_MAP", filled(RATE_MAP, columns, rates, own=own, shapes=shapes, crs=layer.crs))
        return {
            "N_RECORDS": outcome.n_at_risk,
            "N_CASES": outcome.n_cases,
            "OVERALL_RATE": per * rate,
            "BANDWIDTH_USED": rates.bandwidth,
        }
