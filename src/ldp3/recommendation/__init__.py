"""What to deploy on data like a sample: plausible populations, a race, an answer in words."""
