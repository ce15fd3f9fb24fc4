"""Checks of arguments of users; errors name the place and the fix."""
