"""Options, progress, results and exit statuses that all commands share."""
