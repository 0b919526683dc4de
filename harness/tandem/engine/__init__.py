"""How does a request become a result? The one loop under every command."""
