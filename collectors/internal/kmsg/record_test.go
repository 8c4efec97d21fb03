package kmsg

import (
	"errors"
	"testing"
	"time"
)

func TestARecordIsReadWithItsCallerAndDevice(t *testing.T) {
	got, err := Parse([]byte("3,1441,5023412345,-,caller=T141181;mlx5_core 0000:61:00.0: caf\\xc3\\xa9\\x09x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:61:00.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Record{Sequence: 1441, SinceBoot: 5023412345 * time.Microsecond, Caller: "T141181", Device: "+pci:0000:61:00.0",
		Text: "mlx5_core 0000:61:00.0: café x"}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAProgramsRecordHasAFacility(t *testing.T) {
	got, err := Parse([]byte("30,7,1,-;systemd[1]: hello"))
	if err != nil || got.Facility != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatIsNoRecordIsRefused(t *testing.T) {
	for _, text := range []string{"", "\n", "hello", "6;x", "6,1;x", "a,1,2,-;x", "6,-1,2,-;x", "6,1,99999999999999999999,-;x",
		"6,1,2,- no semicolon", " KEY=value"} {
		if got, err := Parse([]byte(text)); !errors.Is(err, errMalformed) {
			t.Errorf("%q gave %+v, %v", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("6,1,2,-;text"))
	f.Add([]byte("6,1,2,-,caller=C1;te\\x0axt\n DEVICE=+pci:0000:01:00.0\n"))
	f.Add([]byte("6,1,18446744073709551615,c;\\x\\x0\\xzz\xff\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := Parse(raw)
		if err != nil {
			return
		}
		if r.SinceBoot < 0 {
			t.Errorf("a time before the boot: %s", r.SinceBoot)
		}
		for _, text := range []string{r.Text, r.Device} {
			if text != clean(text) {
				t.Errorf("%q is not clean", text)
			}
		}
	})
}
