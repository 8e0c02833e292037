"""A release as a folder that describes itself: tables, their schema, content hashes; written, read and checked."""
