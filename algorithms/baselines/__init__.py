"""What people did before and do today."""
