"""The service that runs requests and schedules, one at a time, as a command would."""
