"""GeoPackages by SQLite itself: made, filled and counted, without GDAL."""
