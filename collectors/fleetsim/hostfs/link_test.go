package hostfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/fleetsim/engine"
	"github.com/wallwatch/wallwatch/collectors/fleetsim/scenario"
)

func TestAPortThatAnOperatorTookDownShowsThatItWasMeantSo(t *testing.T) {
	s, err := scenario.Parse([]byte(text + "events:\n  - {at: 5s, for: 10s, host: host01, rnic: \"0000:17:00.0\", operator: port-down}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(s, engine.OpenAdmission{})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	tree, err := New(e.Hosts()[0], root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ flags, operstate, phys, changes string }{
		{"0x1003", "up", "5: LinkUp", "2"}, {"0x1002", "down", "3: Disabled", "3"}, {"0x1003", "up", "5: LinkUp", "4"},
	} {
		write(t, e, tree)
		for name, value := range map[string]string{"class/net/enp23s0f0np0/flags": want.flags, "class/net/enp23s0f0np0/operstate": want.operstate,
			"class/infiniband/mlx5_0/ports/1/phys_state": want.phys, "class/net/enp23s0f0np0/carrier_changes": want.changes} {
			if content, err := os.ReadFile(filepath.Join(root, "sys", name)); err != nil || strings.TrimSpace(string(content)) != value {
				t.Errorf("%s is %q, %v; want %s", name, content, err, value)
			}
		}
		e.Step(8 * time.Second)
	}
}

func TestErrorFilesListEveryErrorAndTheTotal(t *testing.T) {
	if text := fatal.text(2); !strings.Contains(text, "\nSDES 2\n") || !strings.HasSuffix(text, "\nTOTAL_ERR_FATAL 2") || !strings.Contains(text, "\nDLP 0\n") {
		t.Errorf("got %q", text)
	}
}
