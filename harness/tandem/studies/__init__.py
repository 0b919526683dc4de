"""Which questions can be asked? One folder each; the registry below is the only list."""
