"""The toolbox: one file per step, each a form that declares parameters, reads layers, calls core and writes layers."""
