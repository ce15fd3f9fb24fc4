"""Arguments of users: read once and checked; errors name the place and the fix."""
