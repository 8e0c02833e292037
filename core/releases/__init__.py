"""Several releases of the same people: what they give away together, and how a new one is kept from it."""
