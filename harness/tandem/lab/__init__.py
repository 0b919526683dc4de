"""How does an application run under load? Containers, phases, what watches them."""
