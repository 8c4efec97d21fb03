"""Linear temporal logic: formula -> minimal three-valued monitor (Bauer, Leucker, Schallhart, TOSEM 2011).

`parse` reads a formula, `terms` brings it into negation normal form, `automaton` makes a nondeterministic Büchi automaton of it,
`monitor` determinises and minimises, `kind` says what can be monitored at all. `diagram` keeps letters symbolic throughout.
"""
