"""Parts of a solution: where the answer to each subquestion begins and ends."""
