"""The door for programs: frames and names of columns in, a release out; what the toolbox does, without QGIS."""
