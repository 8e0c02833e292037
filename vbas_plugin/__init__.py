"""What QGIS sees of the plugin: the plugin object and the Processing provider."""
