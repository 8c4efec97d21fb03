package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/transport"
)

// longestIntent is the largest description of a test, in bytes: 100,000 events have about 6 MB.
const longestIntent = 16 << 20

// transportRequest is one test.
type transportRequest struct {
	ID      json.RawMessage   `json:"id,omitempty"`
	Intent  *transport.Intent `json:"intent"`
	Seed    uint64            `json:"seed"`
	Capture string            `json:"capture"` // a file name in --capture-dir; none: no capture
	Behind  bool              `json:"behind"`
}

type transportAnswer struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Status string          `json:"status"`
	Reason string          `json:"reason,omitempty"`
	*transport.Result
	File string `json:"capture,omitempty"`
}

// testTransport runs transport tests, one answer for each line.
func testTransport(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("fleetsim transport", flag.ContinueOnError)
	folder := flags.String("capture-dir", "", "folder for captures; requests name files in it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("transport takes flags only")
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<20), longestIntent)
	answers := json.NewEncoder(out)
	for lines.Scan() && ctx.Err() == nil {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if err := answers.Encode(testOnce(lines.Bytes(), *folder)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func testOnce(line []byte, folder string) transportAnswer {
	var request transportRequest
	if err := json.Unmarshal(line, &request); err != nil {
		return transportAnswer{Status: "error", Reason: fmt.Sprintf("not a request: %s", err)}
	}
	answer := transportAnswer{ID: request.ID, Status: "ok"}
	if err := answer.run(&request, folder); err != nil {
		return transportAnswer{ID: request.ID, Status: "error", Reason: err.Error()}
	}
	return answer
}

func (a *transportAnswer) run(request *transportRequest, folder string) error {
	if request.Intent == nil {
		return errors.New("the intent is missing")
	}
	if request.Capture != "" && (folder == "" || filepath.Base(request.Capture) != request.Capture) {
		return fmt.Errorf("capture %q: must be a file name in --capture-dir", request.Capture)
	}
	result, err := transport.Run(request.Intent, transport.Options{Seed: request.Seed, Behind: request.Behind, NoCapture: request.Capture == ""})
	if err != nil {
		return err
	}
	a.Result = result
	if request.Capture == "" {
		return nil
	}
	a.File = filepath.Join(folder, request.Capture)
	return os.WriteFile(a.File, result.Capture, 0o600)
}
