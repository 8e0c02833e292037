"""The door for schedules and shells: `vbas anonymize job.toml`, and what checks and reads a release."""
