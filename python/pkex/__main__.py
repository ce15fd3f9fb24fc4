"""``python -m pkex``."""

import sys

from pkex.cli.main import main

sys.exit(main())
