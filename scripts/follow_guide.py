"""Copy the lines that users are told into a bare Debian or Ubuntu, literally, and run the main job in its own QGIS.

Started by `bash scripts/test-on` within that system, in its clone of the project, as root. Each place that tells the
lines is followed by somebody new, with a home of their own: what a form says where shapely is missing, the tutorials,
README. Then the newest packages that pip gives, and what an engine asks for. Ends with 1 if anything failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QGIS = shutil.which("qgis_process.bin") or shutil.which("qgis_process") or "qgis_process"
JOB = (
    *("run", "vbas:anonymize", "--", "REGIONS={city}/areas.gpkg", "REGION_ID=area", "POPULATION=population"),
    *("RECORDS={city}/records.gpkg", "RECORD_REGION=area", "QUASI_IDENTIFIERS=age_group;sex", "KEEP_FIELDS=diagnosis"),
    *("RELEASED_RECORDS={home}/released.gpkg", "RELEASED_REGIONS={home}/regions.gpkg", "REPORT={home}/report.html"),
)
CITY = ("run", "vbas:demonstrationcity", "--", "AREAS={city}/areas.gpkg", "RECORDS={city}/records.gpkg")
# Whether pip has to be told to install beside the distribution's packages; where not (Ubuntu 22.04), these are too old.
IS_MANAGED = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()
ENGINE = (
    *("run", "vbas:profiledatabase", "--", "CONNECTION={home}/people.csv", "RECORD_REGION=area"),
    *("QUASI_IDENTIFIERS=sex", "PROFILE={home}/profile.gpkg"),
)


class Newcomer:
    """Somebody with a home of their own, in whose QGIS the plugin is switched on."""

    def __init__(self, folder: Path, title: str) -> None:
        self.home, self.city, self.title = folder / re.sub(r"\W", "_", title), folder / "city", title
        profile = self.home / ".local/share/QGIS/QGIS3/profiles/default"
        for folder_needed in (profile / "python/plugins", profile / "QGIS", self.home / "runtime", self.city):
            folder_needed.mkdir(parents=True, exist_ok=True)
        (self.home / "runtime").chmod(0o700)
        (profile / "python/plugins/vbas").symlink_to(ROOT)
        (profile / "QGIS/QGIS3.ini").write_text("[PythonPlugins]\nvbas=true\n", encoding="utf-8")
        self.environment = {
            **os.environ,
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home / "runtime"),
            "QT_QPA_PLATFORM": "offscreen",
        }

    def qgis(self, command: tuple[str, ...]) -> tuple[bool, str]:
        """Runs an algorithm: whether it went well, and what it said."""
        return self._run([QGIS, *(part.format(home=self.home, city=self.city) for part in command)])

    def copies(self, lines: str) -> bool:
        """Copies lines into a terminal, and says yes to what they ask."""
        print("   ", lines.replace("\n", "\n    "), flush=True)
        well, said = self._run(["bash", "-c", lines], answers="y\n" * 9)
        if not well:
            print(said[-2000:])
        return well

    def does_the_job(self) -> bool:
        """Runs the main job; whether it went well, with the numpy and scipy that the distribution gives."""
        if not (self.city / "records.gpkg").exists():
            self.qgis(CITY)
        well, said = self.qgis(JOB)
        well = well and "Traceback" not in said and (self.home / "released.gpkg").is_file()
        if not well:
            print(said[-3000:])
        return well

    def versions(self) -> tuple[str, list[str]]:
        """The packages that this newcomer's QGIS loads, and where from."""
        script = (
            "import numpy, scipy, shapely\nfor one in (numpy, scipy, shapely): print(one.__version__, one.__file__)"
        )
        lines = self._run(["/usr/bin/python3", "-W", "ignore", "-c", script])[1].splitlines()
        return " · ".join(line.split()[0] for line in lines), [line.split(" ", 1)[1] for line in lines]

    def _run(self, command: list[str], answers: str = "") -> tuple[bool, str]:
        done = subprocess.run(
            command,
            env=self.environment,
            cwd=self.home,
            input=answers,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1800,
            check=False,
        )
        return done.returncode == 0, done.stdout


def lines_in(text: str) -> str:
    """The lines to copy in what a form or an error says, which may be one; empty where it tells of none."""
    match = re.search(r"Copy this into a [^:]*:\s+((?:.*&&\s)*.*)", text)
    return match[1].strip() if match else ""


def blocks_for(page: str, shapely: bool) -> list[str]:
    """The lines of a page for a Debian whose shapely is new enough, or is not."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [
        block for block in re.findall(r"^```bash\n(.*?)\n```", text, re.MULTILINE | re.DOTALL) if "sudo apt" in block
    ]
    return [block for block in blocks if ("python3-shapely" in block) == shapely]


def follow(folder: Path) -> list[str]:
    """What failed, by who told it."""
    failed = []
    first = Newcomer(folder, "what a form says")
    said = lines_in(first.qgis(CITY)[1])
    ways = {first.title: said} if said else {}
    has_shapely = "python3-shapely" in said or not said
    for page in ("docs/tutorial.md", "docs/fr/tutoriel.md", "README.md") if IS_MANAGED else ():
        ways.update((page, lines) for lines in blocks_for(page, has_shapely))
    for page in () if IS_MANAGED else ("docs/install.md", "docs/fr/installer.md"):
        ways.update((page, lines) for lines in blocks_for(page, False) if '"numpy' in lines)
    for title, lines in ways.items():
        newcomer = first if title == first.title else Newcomer(folder, title)
        print(f"{title}:", flush=True)
        well = newcomer.copies(lines) and newcomer.does_the_job()
        versions, places = newcomer.versions()
        well = well and (not IS_MANAGED or all(place.startswith("/usr/lib/python3/") for place in places[:2]))
        print(f"{title}: numpy, scipy, shapely {versions}: {'passed' if well else 'FAILED'}", flush=True)
        failed += [] if well else [title]
    failed += [] if newest(Newcomer(folder, "the newest of all")) else ["the newest of all"]
    return failed + ([] if engine(Newcomer(folder, "an engine"), ways) else ["an engine"])


def newest(newcomer: Newcomer) -> bool:
    """The main job with the newest packages of pip; numpy stays what QGIS was built for, 1 or 2."""
    numpy_2 = newcomer._run(["/usr/bin/python3", "-c", "import numpy; print(numpy.__version__)"])[1].startswith("2")
    wanted = "numpy scipy shapely" if numpy_2 else "--no-deps shapely" if IS_MANAGED else "'numpy<2' scipy shapely"
    pip = f"/usr/bin/python3 -m pip install -q --user {'--break-system-packages ' * IS_MANAGED}--upgrade"
    well = newcomer.copies(f"sudo apt install python3-pip && {pip} {wanted}")
    well = well and newcomer.does_the_job()
    print(f"{newcomer.title}: {newcomer.versions()[0]}: {'passed' if well else 'FAILED'}", flush=True)
    return well


def engine(newcomer: Newcomer, ways: dict[str, str]) -> bool:
    """Records that stay where they are: what the error of the first run tells is copied, then it runs."""
    for lines in list(ways.values())[:1]:
        newcomer.copies(lines)
    (newcomer.home / "people.csv").write_text("area,sex\n" + "a,f\nb,m\n" * 20, encoding="utf-8")
    lines_told = lines_in(newcomer.qgis(ENGINE)[1])
    well = bool(lines_told) and newcomer.copies(lines_told)
    last, said = newcomer.qgis(ENGINE) if well else (False, lines_told)
    print(f"{newcomer.title}: {newcomer.versions()[0]}: {'passed' if last else 'FAILED ' + said[-2000:]}", flush=True)
    return last


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        wrong = follow(Path(temporary))
    print(f"failed: {', '.join(wrong)}" if wrong else "All lines that are told do what they should.")
    sys.exit(int(bool(wrong)))
