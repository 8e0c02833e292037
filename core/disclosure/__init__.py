"""What follows from what is published: one attacker for every kind of release."""
