"""What every lab has, and no lab's own: the widget, undo, sharing, saved pages."""
