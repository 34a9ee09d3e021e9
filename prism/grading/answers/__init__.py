"""Final answers of a solution: a number, a set, several values or words, each for the question that it answers."""
