"""What the LDP³ paper says, what theory says, what we measure; then advice, then time.

python -m examples.reproduction --help
"""
