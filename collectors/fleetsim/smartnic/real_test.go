package smartnic

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the models say of an accelerator and of a memory is tried here on this machine: threads stand for functions and for the accelerator.
// CPU time is measured, not the time of day, so that whatever else runs on the machine takes turns and not results.

// cpuTime is that of this thread.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

type realUser struct {
	queues  int
	service time.Duration
}

// serveForReal has a thread that serves queues in turn, each request by working for its time, and threads that keep the queues full.
// It returns the requests of each user per second of the server's work.
func serveForReal(t *testing.T, users []realUser, work time.Duration) []float64 {
	t.Helper()
	type queue struct {
		requests chan struct{}
		user     int
	}
	var queues []queue
	stop := make(chan struct{})
	for at, u := range users {
		for range u.queues {
			q := queue{make(chan struct{}, 16), at}
			queues = append(queues, q)
			go func() {
				for {
					select {
					case <-stop:
						return
					case q.requests <- struct{}{}:
					}
				}
			}()
		}
	}
	defer close(stop)
	counts := make([]float64, len(users))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	worked := time.Duration(0)
	for at := 0; worked < work; at++ {
		q := queues[at%len(queues)]
		<-q.requests
		began := cpuTime(t)
		for cpuTime(t)-began < users[q.user].service { //nolint:revive // the accelerator works
		}
		worked += cpuTime(t) - began
		counts[q.user]++
	}
	for at := range counts {
		counts[at] /= worked.Seconds()
	}
	return counts
}

func TestRealThreadsThatAreServedInTurnGetWhatTheModelSays(t *testing.T) {
	for _, users := range [][]realUser{
		{{1, 200 * time.Microsecond}, {1, 100 * time.Microsecond}},
		{{1, 100 * time.Microsecond}, {4, 100 * time.Microsecond}},
		{{3, 60 * time.Microsecond}, {1, 300 * time.Microsecond}, {2, 120 * time.Microsecond}},
	} {
		turn, printed := 0.0, 0.0
		for _, u := range users {
			// A request takes a little longer than it asks for: its time is measured alone, as that of a function would be.
			alone := 1 / serveForReal(t, []realUser{{1, u.service}}, 50*time.Millisecond)[0]
			turn += float64(u.queues) * alone
			printed += float64(u.queues*u.queues) * alone
		}
		got := serveForReal(t, users, 150*time.Millisecond)
		for at, u := range users {
			if want := float64(u.queues) / turn; math.Abs(got[at]/want-1) > 0.1 {
				t.Errorf("%v: user %d got %.0f per second instead of %.0f (%.0f by the printed equation)", users, at, got[at], want, float64(u.queues)/printed)
			}
		}
	}
}

// lines is a table that packets look up, or that a bench walks: indices in a random cycle, one per cache line.
func lines(megabytes float64) []uint32 {
	const perLine = 16
	count := int(megabytes * 1e6 / 64)
	table := make([]uint32, count*perLine)
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	state := uint64(88172645463325252)
	for i := count - 1; i > 0; i-- { // one cycle through all lines (Sattolo)
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		j := int(state % uint64(i)) //nolint:gosec // small enough
		order[i], order[j] = order[j], order[i]
	}
	for i := range order {
		table[order[i]*perLine] = uint32(order[(i+1)%count] * perLine) //nolint:gosec // small enough
	}
	return table
}

var sink uint32

// BenchmarkPacketsNextToAMemoryBench reports the CPU time of a packet (20 lookups, one after the other, in a table of flows) next to a thread that
// walks another table. CONTENTION_TABLE_MB and CONTENTION_BENCH_MB set the sizes; a bench of 0 is none.
func BenchmarkPacketsNextToAMemoryBench(b *testing.B) {
	size := func(name string, fallback float64) float64 {
		if value, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
			return value
		}
		return fallback
	}
	table, stop, done := lines(size("CONTENTION_TABLE_MB", 8)), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		megabytes := size("CONTENTION_BENCH_MB", 0)
		if megabytes == 0 {
			return
		}
		other := lines(megabytes)
		at := uint32(0)
		for {
			select {
			case <-stop:
				sink += at
				return
			default:
				for range 10_000 {
					at = other[at]
					other[at+1] = at // and dirties it
				}
			}
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	at := uint32(0)
	for range 200_000 { // into the cache
		at = table[at]
	}
	began := cpuTime(b)
	b.ResetTimer()
	for range b.N {
		for range 20 {
			at = table[at]
		}
	}
	b.ReportMetric(float64((cpuTime(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/packet")
	close(stop)
	<-done
	sink += at
}
