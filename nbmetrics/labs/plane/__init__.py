"""Items in a plane and the laws they stand for: what the Playground and the TwinsLab share."""
