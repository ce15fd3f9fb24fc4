"""What results show of themselves: tables of text, and pictures."""
