"""The Playground: drag clients and generators, and see avg and all."""
