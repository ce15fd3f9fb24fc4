"""Results of MMD and HSIC: attributes, summaries, documents and reports."""
