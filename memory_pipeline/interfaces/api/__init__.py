"""The HTTP API: tokens, the application, and the server."""
