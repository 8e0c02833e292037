"""Everything about files that needs no QGIS: folders of a run, locks, all put in their place or none, the register."""
