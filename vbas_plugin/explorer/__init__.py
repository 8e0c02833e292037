"""The dock to look around in: what each number of regions suppresses, on a curve and on the map. A view over core."""
