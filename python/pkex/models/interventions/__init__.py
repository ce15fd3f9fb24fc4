"""Effects of interventions, from a data set of causes and a data set of targets."""
