"""Everything about files that needs no QGIS: folders of a run, locks, free names, all put in their place or none."""
