"""Units and words as a formula has them: roman text, plain text, commands of siunitx."""
