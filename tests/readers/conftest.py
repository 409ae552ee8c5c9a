"""Finds the package of this checkout, installed or not."""

import subjects  # noqa: F401
