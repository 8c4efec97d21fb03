from __future__ import annotations
LONG: dict = {}
