"""What is wrong with a formula that matches no node."""
