package remedies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wallwatch/wallwatch/collectors/internal/sysfs"
)

// pciPattern is the form in which the telemetry names an RNIC: domain:bus:device.function in lower case. Nothing else may become part of a path.
const pciPattern = `^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`

func pciParam() ParamSpec {
	return ParamSpec{Name: "pci", Type: KindText, Unit: "none", Required: true, MaxLength: 12, Pattern: pciPattern}
}

// physicalFunction refuses an address that is not a physical function of this host.
func physicalFunction(sysfsRoot, pci string) error {
	physical, err := sysfs.Root{Path: sysfsRoot}.PhysFn(pci)
	switch {
	case errors.Is(err, sysfs.ErrNotVF):
		return nil
	case err == nil:
		return refuse("%s is a virtual function; name its physical function %s instead", pci, physical)
	case errors.Is(err, fs.ErrNotExist):
		return refuse("this host has no PCI device %s", pci)
	default:
		return refuse("PCI device %s cannot be looked up: %v", pci, err)
	}
}

// refuse says that the action makes no sense on this host now.
func refuse(format string, args ...any) Refusal {
	return Refusal{Code: CodePreconditionFailed, Message: fmt.Sprintf(format, args...)}
}

// hostFiles are files of the agent that another process obeys, one for each physical function. A plan on them has one change, so that one
// rename makes it whole.
type hostFiles struct {
	path   func(pci string) string
	write  func(pci string, content []byte) error
	remove func(pci string) error
}

func (h hostFiles) read(_ context.Context, pci string) (*string, error) {
	if !sysfs.IsPCIAddress(pci) {
		return nil, fmt.Errorf("%q is not a PCI address", pci)
	}
	content, err := os.ReadFile(h.path(pci))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return text(string(content)), nil
}

func (h hostFiles) apply(plan Plan) error {
	for _, change := range plan.Changes {
		if !sysfs.IsPCIAddress(change.Key) {
			return fmt.Errorf("the plan names %q, which is not a PCI address", change.Key)
		}
		var err error
		if change.After == nil {
			err = h.remove(change.Key)
		} else {
			err = h.write(change.Key, []byte(*change.After))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
