"""What do the commands that measure share: options, how they are run, how they end."""
