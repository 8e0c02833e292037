"""How a form looks in a window of QGIS: settings in groups that fold, choices in the user's language."""
