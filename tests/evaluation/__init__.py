"""`make evaluate`: random scenarios, their recordings, and how well the classifier does on them."""
