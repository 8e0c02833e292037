"""Reports: self-contained HTML pages by Jinja2, which comes with QGIS; their pictures are SVG of our own."""
