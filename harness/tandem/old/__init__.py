"""The machinery of the commands that are not on the engine yet. Each that moves takes its part of this away."""
