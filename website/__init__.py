"""The site: plain files that any static host serves, with the labs alive and nothing behind them.

    python -m website [--out site] [--no-notebooks]

`build` lists what there is (`labs`, `gallery`, `notebooks`), and `templates` writes each page with the navigation.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent
