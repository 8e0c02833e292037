"""What is proposed before a release: what joins, what a column holds and could be, how coarse it could be shown."""
