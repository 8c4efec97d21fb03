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

// server is the accelerator with its queues while it serves.
type server struct {
	clients []client
	random  *rand.Rand
	owner   []int // of each queue
	waiting []int // requests in each queue
	coming  arrivals
	now     float64
}

func newServer(clients []client, random *rand.Rand) *server {
	s := &server{clients: clients, random: random}
	for at, c := range clients {
		first := len(s.owner)
		for queue := range c.queues {
			if c.threads == 0 && c.arrivalsPerUs > 0 {
				heap.Push(&s.coming, arrival{random.ExpFloat64() / c.arrivalsPerUs, first + queue})
			}
			s.owner = append(s.owner, at)
		}
		for thread := range c.threads {
			heap.Push(&s.coming, arrival{random.Float64() * (c.thinkUs + c.serviceUs), first + thread%c.queues})
		}
	}
	s.waiting = make([]int, len(s.owner))
	return s
}

// admit takes the requests that have come by now.
func (s *server) admit() {
	for s.coming.Len() > 0 && s.coming[0].at <= s.now {
		queue := s.coming[0].queue
		c := s.clients[s.owner[queue]]
		s.waiting[queue] = min(s.waiting[queue]+1, queuePlaces)
		if c.threads > 0 {
			heap.Pop(&s.coming) // the thread comes again after its result
			continue
		}
		s.coming[0].at += s.random.ExpFloat64() * float64(c.queues) / c.arrivalsPerUs
		heap.Fix(&s.coming, 0)
	}
}

// next is the first queue with a request, from one on in turn; -1 when all are empty.
func (s *server) next(from int) int {
	for step := range s.owner {
		if queue := (from + step) % len(s.owner); s.waiting[queue] > 0 {
			return queue
		}
	}
	return -1
}

// serve visits the queues in turn, one request each, and returns what each client got per microsecond.
func serve(clients []client, random *rand.Rand) []float64 {
	s := newServer(clients, random)
	got := make([]float64, len(clients))
	if s.coming.Len() == 0 {
		return got
	}
	turn, began := 0, 0.0
	for served := 0; served < servedRequests; {
		s.admit()
		queue := s.next(turn)
		if queue < 0 {
			s.now = s.coming[0].at
			continue
		}
		c := clients[s.owner[queue]]
		s.waiting[queue]--
		s.now += c.serviceUs
		turn = queue + 1
		if c.threads > 0 {
			heap.Push(&s.coming, arrival{s.now + c.thinkUs, queue})
		}
		got[s.owner[queue]]++
		if served++; served == servedRequests/10 { // what came before is the beginning, with empty queues
			clear(got)
			began = s.now
		}
	}
	for at := range got {
		got[at] /= s.now - began
	}
	return got
}
