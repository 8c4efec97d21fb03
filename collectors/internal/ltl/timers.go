package ltl

import "container/heap"

type timerKey struct {
	subject key
	policy  int
}

type deadline struct {
	timerKey
	atUs int64
}

type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].atUs < d[j].atUs }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

// Push implements heap.Interface.
func (d *deadlines) Push(x any) { *d = append(*d, x.(deadline)) }

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// timers are few: only policies that bound a wait have one.
type timers struct {
	due deadlines
	at  map[timerKey]int64
}

func newTimers() timers { return timers{at: map[timerKey]int64{}} }

func (t *timers) set(k timerKey, atUs int64) {
	t.at[k] = atUs
	heap.Push(&t.due, deadline{k, atUs})
}

func (t *timers) cancel(k timerKey) { delete(t.at, k) }

// next takes a timer that is due before a time.
func (t *timers) next(nowUs int64) (deadline, bool) {
	for len(t.due) > 0 && t.due[0].atUs < nowUs {
		d := heap.Pop(&t.due).(deadline)
		if t.at[d.timerKey] == d.atUs { // else it was set again or cancelled since
			delete(t.at, d.timerKey)
			return d, true
		}
	}
	return deadline{}, false
}
