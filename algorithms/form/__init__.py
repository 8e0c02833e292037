"""One run, and its nouns (areas, records, guarantees, approaches, regions, release) declared and read for all forms."""
