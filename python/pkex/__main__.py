"""``python -m pkex``."""

import sys

from pkex.commands.main import main

sys.exit(main())
