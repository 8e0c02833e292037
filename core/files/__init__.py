"""Files that several runs may want: folders of their own, locks, and names that are still free."""
