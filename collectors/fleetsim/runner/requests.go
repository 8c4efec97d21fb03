package runner

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/internal/netlink"
)

// Requests to the kernel of a simulated host, in place of netlink messages. Somebody puts a file below netlink/requests, complete
// at once (written under another name and renamed to end in .json):
//
//	{"commands": ["devlink health recover pci/0000:17:00.0 reporter fw_fatal"]}
//
// Its commands are done one after another with no time between them, up to the first that fails; then a file of the same name is in netlink/answers,
// {"results": [{"command": "...", "error": "", "output": ""}]}, and the request is removed. What a command prints is in its output.
type requests struct {
	host   *engine.Host
	engine *engine.Engine
	folder string // the host's
	log    *slog.Logger
}

type requestFile struct {
	Commands []string `json:"commands"`
}

type answerFile struct {
	Results []result `json:"results"`
}

type result struct {
	Command string `json:"command"`
	Error   string `json:"error"`
	Output  string `json:"output,omitempty"`
}

func newRequests(e *engine.Engine, h *engine.Host, log *slog.Logger) (*requests, error) {
	r := &requests{host: h, engine: e, folder: h.Name, log: log}
	return r, errors.Join(os.MkdirAll(r.path("requests"), 0o755), os.MkdirAll(r.path("answers"), 0o755))
}

func (r *requests) path(names ...string) string {
	return filepath.Join(append([]string{r.folder, "netlink"}, names...)...)
}

// serve carries out what was requested since the last call.
func (r *requests) serve() {
	waiting, err := filepath.Glob(r.path("requests", "*.json"))
	if err != nil {
		return
	}
	slices.Sort(waiting)
	for _, file := range waiting {
		if err := r.answer(filepath.Base(file)); err != nil {
			r.log.Error("a request cannot be answered", "host", r.host.Name, "file", file, "error", err)
		}
	}
}

func (r *requests) answer(name string) error {
	text, err := os.ReadFile(r.path("requests", name))
	if err != nil {
		return err
	}
	var request requestFile
	var answer answerFile
	if err := json.Unmarshal(text, &request); err != nil {
		answer.Results = append(answer.Results, result{Error: fmt.Sprintf("the request is not JSON: %v", err)})
	}
	for _, command := range request.Commands {
		one := result{Command: command}
		words := strings.Fields(command)
		output, asked, err := r.show(words)
		if !asked {
			err = r.do(words)
		}
		if one.Output = output; err != nil {
			one.Error = err.Error()
		}
		answer.Results = append(answer.Results, one)
		if !asked {
			r.log.Info("kernel changed on request", "host", r.host.Name, "command", command, "error", one.Error)
		}
		if one.Error != "" {
			break
		}
	}
	out, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.path("answers", name+".new"), append(out, '\n'), 0o644); err != nil {
		return err
	}
	return errors.Join(os.Rename(r.path("answers", name+".new"), r.path("answers", name)), os.Remove(r.path("requests", name)))
}

// show answers a command that only asks; asked is false for any other.
func (r *requests) show(words []string) (output string, asked bool, err error) {
	switch {
	case match(words, "ethtool -k *"):
		on, err := r.engine.Offload(r.host, words[2])
		state := "off"
		if on {
			state = "on"
		}
		return fmt.Sprintf("Features for %s:\nhw-tc-offload: %s\n", words[2], state), true, err
	case match(words, "tc -json filter show dev * ingress"):
		filters, err := r.engine.Filters(r.host, words[5])
		if err != nil {
			return "", true, err
		}
		printed := make([]tcFilter, 0, len(filters))
		for _, filter := range filters {
			printed = append(printed, tcFilter{Protocol: "ip", Pref: filter.Priority, Kind: "flower", Options: tcOptions{
				Handle: filter.Handle, InHW: true, Actions: []tcAction{{Order: 1, Kind: "mirred", Cookie: hex.EncodeToString([]byte(netlink.CookieOf(filter.UFID)))}},
			}})
		}
		text, err := json.Marshal(printed)
		return string(text), true, err
	}
	return "", false, nil
}

// tcFilter is a filter as tc prints it, as far as anybody reads it.
type tcFilter struct {
	Protocol string    `json:"protocol"`
	Pref     int       `json:"pref"`
	Kind     string    `json:"kind"`
	Chain    int       `json:"chain"`
	Options  tcOptions `json:"options"`
}

type tcOptions struct {
	Handle  int        `json:"handle"`
	InHW    bool       `json:"in_hw"`
	Actions []tcAction `json:"actions"`
}

type tcAction struct {
	Order  int    `json:"order"`
	Kind   string `json:"kind"`
	Cookie string `json:"cookie"`
}

// do takes a command in the words of the tool that would do it on a real host.
func (r *requests) do(words []string) error {
	switch {
	case match(words, "devlink health recover * reporter *"):
		return r.engine.RecoverHealth(r.host, strings.TrimPrefix(words[3], "pci/"), words[5])
	case match(words, "ethtool -K * hw-tc-offload *") && (words[4] == "on" || words[4] == "off"):
		return r.engine.SetOffload(r.host, words[2], words[4] == "on")
	case match(words, "tc filter del dev * ingress"):
		return r.engine.DeleteFilters(r.host, words[4])
	case match(words, "tc filter del dev * ingress chain * pref * protocol * handle * flower"):
		handle, err := strconv.ParseInt(words[13], 0, 64)
		if err != nil {
			return err
		}
		return r.engine.DeleteFilter(r.host, words[4], int(handle))
	case match(words, "ip link set dev * vf * max_tx_rate *"):
		vf, err := strconv.Atoi(words[6])
		mbps, rateErr := strconv.Atoi(words[8])
		if err = errors.Join(err, rateErr); err != nil {
			return err
		}
		return r.engine.LimitVF(r.host, words[4], vf, float64(mbps)/1000)
	case match(words, "ip link set dev * vf * max_tx_rate * min_tx_rate *"):
		return r.setRates(words[4], words[6], words[8], words[10])
	case match(words, "devlink port function rate set * tx_max *"):
		return r.ratePort(words[5], words[7], r.engine.LimitPort)
	case match(words, "devlink port function rate set * tx_share *"):
		return r.ratePort(words[5], words[7], r.engine.GuaranteePort)
	case len(words) > 5 && match(words[:5], "devlink port function rate *"):
		return r.group(words)
	}
	return fmt.Errorf("unknown command %q; known are devlink health recover, ethtool -k, ethtool -K ... hw-tc-offload, tc filter del dev ... "+
		"ingress, tc -json filter show dev ... ingress, ip link set dev ... vf ... max_tx_rate (... min_tx_rate), and devlink port function rate set ... tx_max, "+
		"tx_share, parent or noparent, rate add and rate del", strings.Join(words, " "))
}

// setRates sets both rates of a VF, in Mbit/s. The guarantee is taken away first, so that it is never above the limit.
func (r *requests) setRates(uplink, function, most, least string) error {
	vf, err := strconv.Atoi(function)
	limit, limitErr := strconv.Atoi(most)
	guarantee, guaranteeErr := strconv.Atoi(least)
	if err = errors.Join(err, limitErr, guaranteeErr); err != nil {
		return err
	}
	if limit > 0 && guarantee > limit {
		return errors.New("Invalid argument") //nolint:staticcheck // the kernel's words
	}
	if err := r.engine.GuaranteeVF(r.host, uplink, vf, 0); err != nil {
		return err
	}
	if err := r.engine.LimitVF(r.host, uplink, vf, float64(limit)/1000); err != nil {
		return err
	}
	return r.engine.GuaranteeVF(r.host, uplink, vf, float64(guarantee)/1000)
}

// ratePort takes the handle of a port, such as pci/0000:17:00.0/1, and a rate in the tool's unit of bytes per second, such as 125000bps.
func (r *requests) ratePort(handle, rate string, set func(h *engine.Host, pci string, port int, gbps float64) error) error {
	device, index, _ := strings.Cut(strings.TrimPrefix(handle, "pci/"), "/")
	port, err := strconv.Atoi(index)
	gbps, rateErr := gbpsOf(rate)
	if err = errors.Join(err, rateErr); err != nil {
		return err
	}
	return set(r.host, device, port, gbps)
}

// gbpsOf takes a rate in the tool's unit of bytes per second.
func gbpsOf(rate string) (float64, error) {
	digits, inBytes := strings.CutSuffix(rate, "bps")
	if !inBytes {
		return 0, fmt.Errorf("the rate %q must be in bps, which are bytes per second", rate)
	}
	bps, err := strconv.ParseUint(digits, 10, 63)
	return float64(bps) * 8 / 1e9, err
}

// match compares words with a pattern in which * is any word.
func match(words []string, pattern string) bool {
	return slices.EqualFunc(words, strings.Fields(pattern), func(word, want string) bool { return want == "*" || word == want })
}
