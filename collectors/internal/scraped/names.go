package scraped

import (
	"fmt"
	"sync"
)

// owners says which target has which name of a host, so that two hosts do not become one.
type owners struct {
	mu sync.Mutex
	of map[string]*target
}

// claim gives a target the name that its answer states. Without one it keeps its name, or is called as its address. It is an error if another
// target that answers has the name.
func (o *owners) claim(t *target, name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name == "" {
		name = t.host
	}
	if name == "" {
		name = t.address.Hostname()
	}
	if owner := o.of[name]; owner != nil && owner != t {
		o.forget(t)
		return fmt.Errorf("it is left out: its name %.*q is that of the host at %q", maxQuoted, name, owner.address.Redacted())
	}
	if t.host != name {
		o.forget(t)
		t.host = name
	}
	o.of[name] = t
	return nil
}

// release lets others have the name of a target that does not answer, such as a host's former address.
func (o *owners) release(t *target) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(t)
}

func (o *owners) forget(t *target) {
	if o.of[t.host] == t {
		delete(o.of, t.host)
	}
}
