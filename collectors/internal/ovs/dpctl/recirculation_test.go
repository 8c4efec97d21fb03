package dpctl

import "testing"

// The words of lib/odp-util.c (format_odp_actions, format_odp_conntrack_action) of Open vSwitch.
func TestAnActionListSaysWhetherItsPacketsAreLookedUpAgain(t *testing.T) {
	for text, want := range map[string]bool{
		"ct(zone=7),recirc(0x5)": true,
		"ct(commit,zone=7,mark=0x1/0x1,nat(src=192.0.2.1)),recirc(0xa)": true,
		"hash(l4(0)),recirc(0x1)":            true,
		"clone(ct(zone=3),recirc(0x9)),rep0": true,
		"ct(commit,zone=7),rep0":             false,
		"rep0":                               false,
		"drop":                               false,
		"\"recirc(0x5)\"":                    false, // a port with an odd name
	} {
		var actions Actions
		actions.Parse([]byte("ct(zone=7),recirc(0x5)")) // what was read before does not count
		if actions.Parse([]byte(text)); actions.Recirculates != want {
			t.Errorf("%s: got %v, want %v", text, actions.Recirculates, want)
		}
	}
}
