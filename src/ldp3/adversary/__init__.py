"""What an adversary learns, or needs: values of people, the budget, a ranking."""
