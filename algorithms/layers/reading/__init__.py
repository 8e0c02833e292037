"""Tables and fields read as they are, or refused in one sentence."""
