"""What liars and a curious server can do, and how to notice them."""
