"""TwinsLab: two generators that every client scores alike."""
