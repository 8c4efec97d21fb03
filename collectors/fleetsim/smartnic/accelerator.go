package smartnic

import (
	"container/heap"
	"math/rand/v2"
)

// client is a function's use of the accelerator.
type client struct {
	queues    int
	serviceUs float64
	// arrivalsPerUs come whatever happens (a pipeline); 0 for a closed loop.
	arrivalsPerUs float64
	// threads wait for each result, and ask again thinkUs later (run to completion).
	threads int
	thinkUs float64
}

// A queue takes so many requests before its owner has to wait.
const queuePlaces = 64

// requests that the accelerator serves in one simulation: enough for 1% of each function's share.
const servedRequests = 6000

type arrival struct {
	at    float64
	queue int
}

type arrivals []arrival

func (a arrivals) Len() int           { return len(a) }
func (a arrivals) Less(i, j int) bool { return a[i].at < a[j].at }
func (a arrivals) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *arrivals) Push(x any) { *a = append(*a, x.(arrival)) }

// Pop implements heap.Interface.
func (a *arrivals) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// serve visits the queues in turn, one request each, and returns what each client got per microsecond.
func serve(clients []client, random *rand.Rand) []float64 {
	var owner []int
	coming := &arrivals{}
	for at, c := range clients {
		for range c.queues {
			if c.threads == 0 && c.arrivalsPerUs > 0 {
				heap.Push(coming, arrival{random.ExpFloat64() / c.arrivalsPerUs, len(owner)})
			}
			owner = append(owner, at)
		}
		for thread := range c.threads {
			heap.Push(coming, arrival{random.Float64() * (c.thinkUs + c.serviceUs), len(owner) - c.queues + thread%c.queues})
		}
	}
	got, waiting := make([]float64, len(clients)), make([]int, len(owner))
	if coming.Len() == 0 {
		return got
	}
	now, next, began := 0.0, 0, 0.0
	for served := 0; served < servedRequests; {
		for coming.Len() > 0 && (*coming)[0].at <= now {
			due := (*coming)[0]
			c := clients[owner[due.queue]]
			waiting[due.queue] = min(waiting[due.queue]+1, queuePlaces)
			if c.threads == 0 {
				(*coming)[0].at += random.ExpFloat64() * float64(c.queues) / c.arrivalsPerUs
				heap.Fix(coming, 0)
			} else {
				heap.Pop(coming)
			}
		}
		queue := -1
		for step := range owner {
			if candidate := (next + step) % len(owner); waiting[candidate] > 0 {
				queue = candidate
				break
			}
		}
		if queue < 0 {
			now = (*coming)[0].at
			continue
		}
		c := clients[owner[queue]]
		waiting[queue]--
		now += c.serviceUs
		next = queue + 1
		if c.threads > 0 {
			heap.Push(coming, arrival{now + c.thinkUs, queue})
		}
		served++
		if served == servedRequests/10 {
			clear(got)
			began = now
			continue
		}
		got[owner[queue]]++
	}
	for at := range got {
		got[at] /= now - began
	}
	return got
}
