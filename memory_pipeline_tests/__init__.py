"""The tests, in the shape of the package; `laws/` holds the properties, `e2e/` starts the real thing."""
