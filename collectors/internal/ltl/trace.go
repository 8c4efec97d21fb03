package ltl

// Step is what happened to a subject at one time. Propositions are those of the violated policy; none: the step is not the policy's.
type Step struct {
	AtUs         int64
	Kinds        []string
	Propositions []string
}

// remember makes room for the step of a new time at the front of the trace.
func (s *subject) remember(atUs int64) {
	passed := uint64(atUs-s.atUs) / 1000 // #nosec G115 -- time does not go back here
	s.moments = [kept]uint8{noMoment, s.moments[0], s.moments[1], s.moments[2]}
	s.ended = [kept]uint8{0, s.ended[0], s.ended[1], s.ended[2]}
	s.ago = [kept - 1]uint32{shorter(passed), shorter(uint64(s.ago[0]) + passed), shorter(uint64(s.ago[1]) + passed)}
	s.atUs = atUs
}

func shorter(ms uint64) uint32 { return uint32(min(ms, 1<<32-1)) } // #nosec G115 -- bounded

// trace is what is remembered of the way to a violation of a policy, oldest first, and whether there was more.
func (g *group) trace(s *subject, policy int) (steps []Step, isCut bool) {
	p := g.running[policy].policy
	isCut = s.flags&lossy != 0
	i := 0
	for ; i < kept && s.moments[i] != noMoment; i++ {
		m := g.moments.at(s.moments[i])
		if i > 0 && s.ended[i]>>policy&1 != 0 && p.afterViolation(m.letters[policy]) == 0 {
			break
		}
		at := s.atUs
		if i > 0 {
			at -= int64(s.ago[i-1]) * 1000
		}
		steps = append(steps, Step{AtUs: at, Kinds: m.kinds, Propositions: p.names(m.letters[policy])})
		isCut = isCut || s.moments[i] == crowded
		if i > 0 && s.ended[i]>>policy&1 != 0 {
			break
		}
	}
	for a, b := 0, len(steps)-1; a < b; a, b = a+1, b-1 {
		steps[a], steps[b] = steps[b], steps[a]
	}
	return steps, isCut || i == kept
}

// names are the propositions of a letter.
func (p *Policy) names(letter uint8) []string {
	found := []string{}
	for i, name := range p.Propositions {
		if letter>>i&1 != 0 {
			found = append(found, name)
		}
	}
	return found
}

// afterViolation is the state after a violation: the violating step is the first that is watched again, unless it alone violates.
func (p *Policy) afterViolation(letter uint8) uint8 {
	if state := p.Table[letter]; p.Verdicts[state] != 'F' {
		return state
	}
	return 0
}
