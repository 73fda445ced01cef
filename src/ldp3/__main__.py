"""``python -m ldp3`` is ``ldp3``."""

from ldp3.cli import main

if __name__ == "__main__":
    main()
