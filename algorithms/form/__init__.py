"""What the forms share: one run, its nouns (areas, records, approaches, regions, release) declared and read."""
