"""``python -m pkex``."""

import sys

from pkex.cli import main

sys.exit(main())
