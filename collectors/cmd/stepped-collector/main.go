// Command stepped-collector runs the collector's inputs on one host's files and sockets, at the times that a file says and when standard input
// asks for it: tests play hosts with it, ten minutes in seconds.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/influxdata/telegraf"

	"github.com/wallwatch/wallwatch/collectors/internal/stepped"
)

const usage = `stepped-collector runs the collector's inputs when it is asked to.

  stepped-collector --host NAME --root DIR [--rack RACK] [--patience 20s]

DIR has clock (8 bytes, little endian: the host's time in ns since 1970, which may be changed at any time), sys/, netlink/, ovs/ovs-vswitchd.*.ctl,
ovs/db.sock, kmsg, pstore/, boot_id and cni/events/. Standard input has one JSON object a line:

  {"life": "start"|"stop"|"kill"}   the collector starts, is stopped in order, or dies
  {"gather": ["rnic", "ovs_offload", "kernel_events", "cni_events", "sweep"]}   these inputs read once, in this order

Standard output has the messages as they go to Kafka, one JSON object a line, and {"done": {"errors": {TEXT: TIMES}}} after each request.
`

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "stepped-collector:", err)
		os.Exit(1)
	}
}

// request is one line of standard input.
type request struct {
	Life   string   `json:"life"`
	Gather []string `json:"gather"`
}

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("stepped-collector", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	name := flags.String("host", "", "")
	rack := flags.String("rack", "r1", "")
	root := flags.String("root", "", "")
	patience := flags.Duration("patience", 20*time.Second, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" || *root == "" {
		return errors.New("--host and --root are required")
	}
	messages, err := stepped.NewMessages(*name, *rack)
	if err != nil {
		return err
	}
	clock, err := os.Open(filepath.Join(*root, "clock"))
	if err != nil {
		return err
	}
	defer func() { _ = clock.Close() }()
	c := &collector{host: hostAt(*root, *patience), clock: clock, messages: messages}
	answers := bufio.NewWriterSize(out, 1<<20)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("a request that is not JSON: %q: %w", lines.Text(), err)
		}
		if err := c.do(r); err != nil {
			return err
		}
		if err := c.answer(answers); err != nil {
			return err
		}
	}
	return lines.Err()
}

func hostAt(root string, patience time.Duration) stepped.Host {
	at := func(name string) string { return filepath.Join(root, name) }
	return stepped.Host{Sysfs: at("sys"), Netlink: at("netlink"), Unixctl: at("ovs/ovs-vswitchd.*.ctl"), OVSDB: at("ovs/db.sock"), Kmsg: at("kmsg"),
		Pstore: at("pstore"), BootID: at("boot_id"), CNIEvents: at("cni/events"), KernelState: at("kernel_events.json"), Patience: patience}
}

// collector is the one of the host; its inputs are nil while it does not run.
type collector struct {
	host     stepped.Host
	clock    *os.File
	messages *stepped.Messages
	inputs   *stepped.Inputs
}

// now is the host's time. Where the file cannot be read there is no time to go on with.
func (c *collector) now() time.Time {
	var text [8]byte
	if _, err := c.clock.ReadAt(text[:], 0); err != nil {
		panic(fmt.Errorf("the clock: %w", err))
	}
	return time.Unix(0, int64(binary.LittleEndian.Uint64(text[:]))).UTC() //nolint:gosec // G115: a time before the year 2262
}

func (c *collector) do(r request) error {
	switch r.Life {
	case "":
	case "start":
		var err error
		if c.inputs, err = stepped.New(c.host, c.now, c.messages); err != nil {
			return err
		}
	case "stop":
		if c.inputs != nil {
			c.inputs.Stop()
		}
		c.inputs = nil
	case "kill":
		c.inputs = nil
	default:
		return fmt.Errorf("life %q is not start, stop or kill", r.Life)
	}
	for _, name := range r.Gather {
		if err := c.gather(name); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) gather(name string) error {
	if c.inputs == nil {
		return fmt.Errorf("%s: the collector does not run", name)
	}
	var input telegraf.Input
	switch name {
	case "sweep":
		c.inputs.OVS.LookAtSweep()
		return nil
	case "rnic":
		input = c.inputs.RNIC
	case "ovs_offload":
		input = c.inputs.OVS
	case "kernel_events":
		input = c.inputs.Kernel
	case "cni_events":
		input = c.inputs.CNI
	default:
		return fmt.Errorf("there is no input %q", name)
	}
	stepped.Gather(c.messages, input)
	return nil
}

// answer writes what the inputs have said, and that the request is done.
func (c *collector) answer(out *bufio.Writer) error {
	for _, message := range c.messages.Take() {
		_, _ = out.Write(message.Text)
		_ = out.WriteByte('\n')
	}
	done, err := json.Marshal(map[string]any{"done": map[string]any{"errors": c.messages.TakeErrors()}})
	if err != nil {
		return err
	}
	_, _ = out.Write(append(done, '\n'))
	return out.Flush()
}
