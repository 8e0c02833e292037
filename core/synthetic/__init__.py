"""Test people: records made by a generator, for demonstrations, tests and benchmarks.

Nobody in them exists, but where whole rows of microdata are drawn: those are real people's, and internal.

`distributions` holds the shares of categories by province; `estimate` finds them in microdata; `generator` draws the
records of each area from them, or whole rows from `microdata`. `canada` (shares by province) and `city` (a whole city
with its people) are made up by this project.
"""
