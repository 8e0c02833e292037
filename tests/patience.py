"""How long a test waits for what must come: nothing is shown by the time that it takes where others work, too."""

PATIENCE = 600  # seconds
