"""`python -m vizgen` is the command `vizgen`."""
import sys

from vizgen.cli import main

if __name__ == "__main__":
    sys.exit(main())
