"""Experiments that were published, made again: their definition, their result, how each kind is measured."""
