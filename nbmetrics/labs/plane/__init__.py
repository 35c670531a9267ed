"""Items in a plane and the distributions they stand for: what the Playground and the TwinsLab share."""
