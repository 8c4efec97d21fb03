"""Linear temporal logic: formula -> minimal three-valued monitor (Bauer, Leucker, Schallhart, TOSEM 2011).

`parse` reads a formula, `terms` brings it into negation normal form, `automaton` converts it into a nondeterministic Büchi automaton,
`monitor` determinises and minimises, `kind` classifies what can be monitored. `diagram` keeps letters symbolic throughout.
"""
