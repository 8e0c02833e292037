"""Tables of databases as outputs: written under a random name, and swapped in with all other outputs."""
