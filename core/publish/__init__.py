"""What is done with files and needs no QGIS: folders of a run, locks, names that are free, files put in their place."""
