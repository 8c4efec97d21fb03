"""What the evaluation says when one threshold of the rules is moved by a fifth. `python -m tests.evaluation.sensitivity --help`."""
