"""Test people: records made by a generator, for demonstrations, tests and benchmarks.

Nobody in them exists, except where whole rows of microdata are drawn: those are of real people, and internal.

`distributions` holds the shares of categories by province; `microdata` estimates them; `generator` draws the records of
each area from them, or whole rows of microdata. `canada` (shares by province) and `city` (a whole city with its people)
are made up by this project.
"""
