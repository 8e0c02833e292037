"""The window that says which Python packages are there, and gets those that are not where somebody asks for it."""
