"""Test people: records made by a generator, for demonstrations, tests and benchmarks.

Nobody in them exists where shares are made up. Whole rows of microdata are of real people, and internal; so are records
drawn from real shares, whose rare values are somebody's.

`distributions` holds the shares of categories by province; `microdata` estimates them; `generator` draws the records of
each area from them, or whole rows of microdata. `canada` (shares by province) and `city` (a whole city with its people)
are made up by this project.
"""
