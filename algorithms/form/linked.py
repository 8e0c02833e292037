"""Tables that belong to the persons: declared and read, and released as one GeoPackage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMultipleLayers

from ...core.account import Account
from ...core.areas import Areas
from ...core.errors import InputError
from ...core.job.linked import KEEP, KEY, KNOWN, SENSITIVE, Linking, by_table, linked_source, table_name
from ...core.job.values import parts_of
from ...core.language import tr
from ...core.linked.source import LinkedSource
from ...core.linked.tables import ALL_ROWS, ONE_ROW, ROWS_KNOWN
from ...core.package.dataset import tables_of_release
from ...core.package.linked import recount_geopackage
from ...core.package.writing import write_geopackage
from ...core.records.matching import Records
from ...core.tables.schema import FOR_RELEASE
from ..layers.reading.checked_source import CheckedSource
from .command import texts_of, without_password
from .form import Form, FormJob
from .layers import LayerTable
from .parameters import TABLE, choice, described, field, file_output, text, whole, yes

LINKED_TABLES, LINKED_KEYS, COUNT_KNOWN, NEW_KEY, LINKED_K = (
    *("LINKED_TABLES", "LINKED_KEYS", "COUNT_KNOWN", "NEW_KEY", "LINKED_K"),
)
RELEASED_TABLES, KNOWN_OF = "RELEASED_TABLES", "ROWS_KNOWN"


def linked_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """KEY, LINKED_TABLES, and what is known and released of them."""
    yield field(
        KEY,
        tr("Key of the persons"),
        "RECORDS",
        tr(
            "The field that says which person a row of the linked tables belongs to: one row of RECORDS for each "
            "value. It is not released."
        ),
    )
    yield described(
        QgsProcessingParameterMultipleLayers(LINKED_TABLES, tr("Linked tables"), TABLE),
        tr(
            "Tables that belong to the persons, such as stays, drugs or tests, with the key of the persons. They are "
            "released under the names of their layers. Where rows have to be left out, those of the last table go "
            "first."
        ),
    )
    yield text(
        KNOWN,
        tr("Linked tables: what others may know of a person's rows"),
        None,
        tr(
            "Fields of the linked tables as table.field, one after the other with semicolons: stays.month; "
            "stays.ward. Whoever knows them of all rows of a person, beside the quasi-identifiers, still finds k "
            "people who look alike, or nobody. They are released. Few coarse fields leave many rows; a date of every "
            "stay leaves none."
        ),
        optional=True,
    )
    yield choice(
        KNOWN_OF,
        tr("Linked tables: of how many rows others may know it"),
        ROWS_KNOWN,
        ALL_ROWS,
        tr(
            "“{all_rows}”: others may know these fields of every row of a person, and so how many there are; rows are "
            "left out person by person. With many rows a person hardly any are shown. “{one_row}”: they know them of "
            "one row of a person, whichever it is, and nothing of the others; rows are left out whose values fewer "
            "than k people of a class have. Whoever knows two rows of a person may find that person.",
            all_rows=ALL_ROWS,
            one_row=ONE_ROW,
        ),
    )
    yield text(
        KEEP,
        tr("Linked tables: what else to release of them"),
        None,
        tr(
            "Further fields as table.field, released unchanged. Each is looked at by itself, a value of a person once: "
            "the run stops where its values stand for the area, or for one person."
        ),
        optional=True,
    )
    yield text(
        SENSITIVE,
        tr("Linked tables: sensitive fields of a person's rows"),
        None,
        tr(
            "Fields as table.field that people who look alike must not have in common, as L_DIVERSITY and MAX_SHARE "
            "ask: of those who have rows of the table; a person has a value if any row has it. They are released."
        ),
        advanced=True,
        optional=True,
    )
    yield yes(
        COUNT_KNOWN,
        tr("Linked tables: others may know how many rows"),
        True,
        tr(
            "For tables of which nothing is named as known. Untick it only where nobody can know how many stays or "
            "drugs a person has: the release then shows numbers of rows that few people share."
        ),
        advanced=True,
    )
    yield yes(
        NEW_KEY,
        tr("Linked tables: release a new key"),
        True,
        tr(
            "With it the rows of a person hang together in all tables, by the field vbas_person: numbers drawn from "
            "the computer's own source that have nothing to do with the old key. Without it rows say their region and "
            "not whose they are; as much is left out."
        ),
        advanced=True,
    )
    yield whole(
        LINKED_K,
        tr("Linked tables: smallest group allowed"),
        0,
        tr(
            "How many people must look alike in all tables together; 0 for k. Where k is larger than this, the groups "
            "of persons are larger, and more rows of the linked tables are shown: k of 50 and 5 here, say."
        ),
        0,
        advanced=True,
    )
    yield text(
        LINKED_KEYS,
        tr("Linked tables: keys of another name"),
        None,
        tr("Where a table calls the key otherwise: drugs.patient, as table.field with semicolons."),
        advanced=True,
        optional=True,
    )


def linked_values(form: Form, caveats: list[str]) -> dict[str, object]:
    """What a form asks of linked tables, as a job says it; caveats : hears what that cannot do by itself."""
    sources = texts_of(form, LINKED_TABLES, form.parameters.get(LINKED_TABLES), caveats)
    names = map(name_of_source, form.layers.sources(LINKED_TABLES))
    tables = {name: without_password(source, LINKED_TABLES, caveats) for name, source in zip(names, sources)}
    typed = {name: form.text(name) for name in (KNOWN, KEEP, SENSITIVE, LINKED_KEYS) if form.given(name)}
    return {
        KEY: form.text(KEY),
        LINKED_TABLES: tables,
        **{name: parts_of(text) for name, text in typed.items()},
        KNOWN_OF: form.text(KNOWN_OF),
        COUNT_KNOWN: form.yes(COUNT_KNOWN),
        NEW_KEY: form.yes(NEW_KEY),
        LINKED_K: form.whole(LINKED_K),
    }


def released_tables() -> QgsProcessingParameterDefinition:
    """RELEASED_TABLES."""
    return file_output(
        RELEASED_TABLES,
        tr("Released persons and linked tables ({for_release})", for_release=FOR_RELEASE),
        tr("GeoPackage files (*.gpkg)"),
        tr(
            "One GeoPackage with the released persons (records) and each linked table under its name. Fields: "
            "vbas_person, the new key; vbas_region; those that you named; and of the persons, for each table, whether "
            "its rows are shown or left out. It is recounted from the file before it reaches its place. For release."
        ),
        by_default=True,
    )


def linking_of(job: FormJob) -> Linking:
    """What a form asks of linked tables. Raises InputError."""
    sources = job.layers.sources(LINKED_TABLES)
    tables = {name_of_source(source): LayerTable(source, job.layers.feedback) for source in sources}
    if len(tables) < len(sources):
        raise InputError.saying("LINKED_TABLES: two layers have the same name; rename one of them.")

    def named(parameter: str) -> dict[str, list[str]]:
        typed = [part for part in job.text(parameter).split(";") if part.strip()]
        return by_table(parameter, typed, list(tables))

    return Linking(
        job.text(KEY),
        tables,
        named(KNOWN),
        named(KEEP),
        named(SENSITIVE),
        {table: names[0] for table, names in named(LINKED_KEYS).items()},
        job.yes(COUNT_KNOWN),
        job.yes(NEW_KEY),
        job.whole(LINKED_K),
        job.text(KNOWN_OF),
    )


def name_of_source(source: CheckedSource) -> str:
    """The name of a layer as the release has it."""
    name = source.sourceName() if source.layer is None else source.layer.name()
    return table_name(name)


def linked_of(job: FormJob, records: Records, areas: Areas) -> LinkedSource:
    """The persons of a form with their linked tables. Raises InputError."""
    return linked_source(job, linking_of(job), records, areas)


def add_released_tables(form: Form, account: Account) -> None:
    """Write RELEASED_TABLES, and count it once more."""

    def write(file: Path) -> None:
        tables = [table for table in tables_of_release(account) if table.name not in ("crosswalk", "regions")]
        write_geopackage(file, tables)
        recount_geopackage(file, tables, account)

    form.outputs.add_file(RELEASED_TABLES, write)
