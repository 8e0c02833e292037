"""What others could learn from a release: forms that check it."""
