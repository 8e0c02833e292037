"""Several releases of the same people: made comparable, held against each other, and a new one repaired."""
