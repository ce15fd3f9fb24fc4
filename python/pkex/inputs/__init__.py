"""What users give: read once, checked, and refused with the place and a remedy."""
