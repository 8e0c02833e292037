"""What k does not count: persons behind rows, what a class has in common, further fields, totals, rules, any table."""
