"""Tables that belong to persons, such as their stays and drugs, released beside them in one geography.

The persons are released by the recipe of all releases. Within each of its classes the linked rows are shown of those
with whom at least k people share all that others may know of them in all tables together (docs/methods.md: linked
tables).
"""
