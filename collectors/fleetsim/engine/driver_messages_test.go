package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sick does to a card what makes its driver speak.
func sick(r *RNIC, now time.Duration) {
	r.Host.logNow(now, r.logged().Timeout(insertEntry.driverCommand(), 0)...)
	r.Host.logNow(now, r.logged().Refusal()...)
	r.wedgedAt, r.healthSaid = now, false
	r.watchHealth(now + healthMisses*healthPeriod)
	r.watchHealth(now + recoveryAfter)
	r.loseLink(now)
	r.Host.logNow(now, r.logged().Carrier(false, r.Model.LineGbps))
	r.Host.logNow(now, r.logged().Carrier(true, r.Model.LineGbps))
	r.Host.logOops(r, now)
}

func TestEachDriverSpeaksInItsOwnWords(t *testing.T) {
	for model, words := range map[string]struct{ has, hasNot []string }{
		"CX-6": {[]string{"timeout. Will cause a leak", "limits exceeded", "device's health compromised", "mlx5_pci_err_detected",
			"enp23s0f0np0: Link down", "[mlx5_core]"}, []string{"[ice]", "ice 0000:17"}},
		"E810": {[]string{"Control Send Queue Writeback timeout", "enp23s0f0: tx_timeout: VSI_num", "NIC Link is Down",
			"NIC Link is up 200 Gbps", "ice_rem_adv_rule", "DDP package"}, []string{"mlx5", "health compromised"}},
	} {
		e := build(t, strings.Replace(fmt.Sprintf(fleet, "fixed", 100), "[CX-6, CX-7]", "["+model+"]", 1), OpenAdmission{})
		sick(e.rnics[0], time.Minute)
		log := ""
		for _, m := range e.hosts[0].Messages {
			log += m.Text + "\n"
		}
		for _, want := range words.has {
			if !strings.Contains(log, want) {
				t.Errorf("%s never says %q in:\n%s", model, want, log)
			}
		}
		for _, never := range words.hasNot {
			if strings.Contains(log, never) {
				t.Errorf("%s says %q in:\n%s", model, never, log)
			}
		}
		if h := e.rnics[0].Health(); h.Failed || h.Errors != 1 || h.Recoveries != 1 {
			t.Errorf("%s: after a stop and a reset the health is %+v", model, h)
		}
	}
}
