"""From a file or an object to how many people hold each value."""
