"""The only place where QGIS layers become core objects and core objects become layers."""
