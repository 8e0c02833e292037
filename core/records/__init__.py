"""Where records come from, and what the rest of core sees of them: columns of codes."""
