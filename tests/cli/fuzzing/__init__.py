"""Command lines that nobody would type, made from a seed and run in this process.

    python -m tests.cli.fuzzing 50000 [FIRST_SEED]

Every line is run in a scratch folder of its own making. Paths are relative and stay inside it: no
line names a device, an absolute path or a folder above. A line may be refused; it may not end in
a traceback, and what it says of a mistake is one line.
"""
