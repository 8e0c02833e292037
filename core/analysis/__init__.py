"""What is made of a release by whoever analyses it: of nothing but what is published."""
