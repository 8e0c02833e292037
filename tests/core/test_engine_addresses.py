"""Addresses of records: what they name, and that no secret stands in one, or gets out of one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vbas.core.engines.addresses import Address, read_address, refuse_secrets
from vbas.core.errors import InputError
from vbas.core.secrecy import without_secrets

from ..secrets_written import WRITTEN

SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://nurse:{SECRET}@host/records",
        f"postgres://host/records?user=nurse&password={SECRET}",
        f"postgresql://host/records?sslpassword={SECRET}",
        f"host=h dbname=d user=u password={SECRET}",
        f"dbname='d' PASSWORD = '{SECRET}'",
        f"sc://host:15002/;token={SECRET}",
        f"sc://host:15002/;use_ssl=true;token={SECRET}",
        f"postgresql://[nurse:{SECRET}@host/records",
        f"/data/x.parquet?token={SECRET}",
    ],
)
def test_a_secret_is_refused_and_not_repeated(text):
    with pytest.raises(InputError) as error:
        read_address(text)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("written", WRITTEN)
def test_no_way_of_writing_one_is_taken_for_an_address(written):
    text, secret, _ = WRITTEN[written]
    with pytest.raises(InputError) as error:
        read_address(text)
    assert not any(part in str(error.value) for part in (secret, "hun", "ter2"))


@pytest.mark.parametrize(
    "text",
    [
        f"nurse/{SECRET}@host:1521/records",
        f"postgresql:nurse/{SECRET}@host",
        f"postgresql://nurse%3A{SECRET}@host/records",
        f"postgresql://host/nurse:{SECRET}@records",
        f"postgresql://host/records?dbname=postgresql://nurse:{SECRET}@host",
        f"postgresql://host/records?pas={SECRET}",
        f"host=h dbname=records {SECRET}",
        f"host=h dbname=records pas={SECRET}",
        f"host=h dbname='pas={SECRET}'",
        f"host=h user=nurse:{SECRET}",
        f"host=h password\u00a0={SECRET}",
        f"host=h pass\u200bword={SECRET}",
        f"sc://host/;x-api-key={SECRET}",
        f"sc://host/;authorization={SECRET}",
        f"sc://host/;Token2={SECRET}",
        f"spark://host:7077;{SECRET}",
        f"spark://host:7077/?x={SECRET}",
        f"sc://nurse@{SECRET}@host",
        f"https://host/{SECRET}/people.parquet",
        f"s3://nurse:{SECRET}@town/people.parquet",
        f"my {SECRET}=x",
    ],
)
def test_what_is_not_read_in_every_part_is_refused_and_not_repeated(text):
    with pytest.raises(InputError) as error:
        read_address(text)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("postgresql://nurse@host:5433/records", "postgres"),
        ("postgresql:///records?service=claims", "postgres"),
        ("postgresql://nurse@[::1]:5433,other:5434/records?sslmode=require&connect_timeout=5", "postgres"),
        ("postgres://%2Fvar%2Frun/records", "postgres"),
        ("host='/var/run' dbname='my records' user=nurse passfile=/home/nurse/.pgpass", "postgres"),
        ("port = 5433 user=nurse", "postgres"),
        ("service=claims", "postgres"),
        ("dbname='passwords'", "postgres"),
        ("/data/token.parquet", "duckdb"),
        ("duckdb:///data/records.duckdb", "duckdb"),
        ("duckdb:///C:/data/records.duckdb", "duckdb"),
        ("/data/*/part-*.parquet", "duckdb"),
        ("records.csv", "duckdb"),
        ("spark://host:7077", "spark"),
        ("spark://one:7077,two:7077", "spark"),
        ("local[2]", "spark"),
        ("local-cluster[2,1,1024]", "spark"),
        ("sc://host:15002", "connect"),
        ("sc://host/;use_ssl=true;user_id=nurse", "connect"),
    ],
)
def test_what_an_address_names(text, kind):
    assert read_address(text).kind == kind


def test_what_is_no_address():
    with pytest.raises(InputError, match="neither a connection of QGIS nor an address"):
        read_address("my favourite table")
    with pytest.raises(InputError, match="neither"):
        read_address("local")


@pytest.mark.parametrize("name", ["x-header", "session_id", "Credit"])
def test_spark_connect_is_sent_nothing_that_could_be_a_secret(name):
    """Every parameter of its address goes to the server, so that any of them may be one."""
    with pytest.raises(InputError, match=f"take “{name}” out") as error:
        read_address(f"sc://host:15002/;use_ssl=true;{name}={SECRET}")
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("quoted", [f"password='{SECRET}'", f"password={SECRET}", f"postgresql://u:{SECRET}@h/d"])
def test_messages_of_an_engine_lose_its_secrets(quoted):
    told = without_secrets(f'cannot connect with "{quoted} and {SECRET}"', f"host=h {quoted} user=u")
    assert SECRET not in told
    assert "cannot connect" in told


def test_an_address_does_not_show_what_opens_it():
    address = Address("postgres", "claims", f"host=h password={SECRET}")
    assert SECRET not in repr(address)
    refuse_secrets(address.place)


def test_nothing_optional_is_loaded_before_an_engine_is_opened():
    """The toolbox must load where none of these packages is."""
    code = "import sys, vbas.core.engines, vbas.core.engines.fields, vbas.core.engines.engine; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert not {"ibis", "duckdb", "pyarrow", "sqlglot", "adbc_driver_postgresql", "pyspark", "grpc"} & set(
        done.stdout.split()
    )


def test_the_address_of_a_duckdb_file_on_a_drive_of_windows_is_its_path():
    assert read_address("duckdb:///data/records.duckdb").place == "/data/records.duckdb"
    assert read_address("duckdb:///C:/data/records.duckdb").place == "C:/data/records.duckdb"
    assert read_address(r"duckdb:///C:\data\records.duckdb").place == r"C:\data\records.duckdb"
    assert read_address(r"C:\data\records.duckdb").place == r"C:\data\records.duckdb"
