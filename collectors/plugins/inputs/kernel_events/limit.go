package kernel_events

import "time"

// limiter bounds the events of one kind and device: a driver in trouble can write thousands of lines per second, and the first few say it all.
// It counts in the log's time, so that a log read twice is cut in the same way.
type limiter struct {
	most    int
	every   time.Duration
	windows map[key]*window
}

// key is what is limited on its own.
type key struct{ pattern, device string }

// window counts from its beginning.
type window struct {
	began   time.Time
	passed  int
	leftOut int
	last    occurrence // of those left out
}

// maxKeys bounds the memory; devices beyond it share the window of "".
const maxKeys = 1024

func newLimiter(most int, every time.Duration) *limiter {
	return &limiter{most: most, every: every, windows: make(map[key]*window)}
}

// summary is an event that stands for those left out.
type summary struct {
	occurrence
	leftOut int
}

// pass reports whether an occurrence becomes an event, and returns what the window before left out when a new one begins.
func (l *limiter) pass(o occurrence) (bool, *summary) {
	k := key{o.pattern, o.device}
	w := l.windows[k]
	if w == nil && len(l.windows) >= maxKeys {
		k.device = ""
		w = l.windows[k]
	}
	var before *summary
	if w == nil || o.at.Sub(w.began) >= l.every || o.at.Before(w.began) {
		before = w.summary()
		w = &window{began: o.at}
		l.windows[k] = w
	}
	if w.passed < l.most {
		w.passed++
		return true, before
	}
	w.leftOut++
	w.last = o
	return false, before
}

func (w *window) summary() *summary {
	if w == nil || w.leftOut == 0 {
		return nil
	}
	return &summary{w.last, w.leftOut}
}

// expire returns what was left out in windows that are over, and forgets them.
func (l *limiter) expire(now time.Time) []*summary {
	var over []*summary
	for k, w := range l.windows {
		if now.Sub(w.began) < l.every {
			continue
		}
		if s := w.summary(); s != nil {
			over = append(over, s)
		}
		delete(l.windows, k)
	}
	return over
}
