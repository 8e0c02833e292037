"""The main algorithm as a job: areas and records are read here, the rest is core's."""

from __future__ import annotations

from ..core.job.making import aggregations_used, is_nested, released
from .form.areas import areas_of, with_neighbours
from .form.form import Form
from .form.job_file import JOB_FILE, add_job
from .form.records import populated, records_of
from .handed_over import hand_over


def anonymized(form: Form) -> dict[str, object]:
    """`vbas:anonymize`."""
    is_nested(form)  # which raises for what cannot go together
    layer = with_neighbours(form, areas_of(form), aggregations_used(form))
    records = records_of(form, layer.areas, form.whole("K"))
    made = released(form, populated(layer, records), records)
    numbers = hand_over(form, made.account, layer, made.remarks, made.hierarchies, made.aggregation)
    if form.outputs.wanted(JOB_FILE):
        add_job(form)
    return numbers
