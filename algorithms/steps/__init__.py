"""The components one by one."""
