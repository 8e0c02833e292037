"""Reports: self-contained HTML pages, by Jinja2 and plotly (both come with QGIS)."""
