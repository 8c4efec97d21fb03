package ovsdb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovstest"
)

// server runs a real ovsdb-server and returns its socket.
func server(t *testing.T, initialised bool) string {
	t.Helper()
	var settings map[string]string
	if initialised {
		settings = map[string]string{}
	}
	return ovstest.StartDatabase(t, settings).Socket
}

func dial(t *testing.T, socket string) (*ovsdb.Client, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	client, err := ovsdb.Dial(ctx, "unix:"+socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, ctx
}

func TestSettingsAreSetReplacedAndRemovedInARealServer(t *testing.T) {
	client, ctx := dial(t, server(t, true))
	if settings, err := client.OtherConfig(ctx); err != nil || len(settings) != 0 {
		t.Fatalf("at first: %v, %v", settings, err)
	}
	must(t, client.SetOtherConfig(ctx, map[string]string{"max-idle": "60000", "hw-offload": "true"}, nil))
	must(t, client.SetOtherConfig(ctx, map[string]string{"max-idle": "30000"}, []string{"never-set"}))
	settings, err := client.OtherConfig(ctx)
	if err != nil || settings["max-idle"] != "30000" || settings["hw-offload"] != "true" || len(settings) != 2 {
		t.Errorf("after a change: %v, %v", settings, err)
	}
	must(t, client.SetOtherConfig(ctx, nil, []string{"max-idle"}))
	if settings, err := client.OtherConfig(ctx); err != nil || len(settings) != 1 {
		t.Errorf("after a removal: %v, %v", settings, err)
	}
}

func TestAMonitorSeesThePresentValueAndChangesOfOthers(t *testing.T) {
	socket := server(t, true)
	watcher, ctx := dial(t, socket)
	changer, _ := dial(t, socket)
	must(t, changer.SetOtherConfig(ctx, map[string]string{"max-idle": "10"}, nil))
	values, err := watcher.Monitor(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-values; got["max-idle"] != "10" {
		t.Errorf("present value: %v", got)
	}
	must(t, changer.SetOtherConfig(ctx, map[string]string{"max-idle": "20"}, nil))
	if got := <-values; got["max-idle"] != "20" {
		t.Errorf("after a change: %v", got)
	}
	_ = watcher.Close()
	if _, open := <-values; open {
		t.Error("the channel outlives the connection")
	}
	if _, err := watcher.OtherConfig(ctx); !errors.Is(err, ovsdb.ErrClosed) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestADatabaseWithoutARowIsDistinguishedFromEmptySettings(t *testing.T) {
	client, ctx := dial(t, server(t, false))
	if _, err := client.OtherConfig(ctx); !errors.Is(err, ovsdb.ErrNoRow) {
		t.Errorf("reading: %v", err)
	}
	if err := client.SetOtherConfig(ctx, map[string]string{"a": "b"}, nil); !errors.Is(err, ovsdb.ErrNoRow) {
		t.Errorf("changing: %v", err)
	}
}

func TestAFailedOperationFailsTheTransaction(t *testing.T) {
	client, ctx := dial(t, server(t, true))
	if _, err := client.Transact(ctx, map[string]any{"op": "select", "table": "No_Such_Table", "where": []any{}}); err == nil {
		t.Error("no error")
	}
}

func TestAServerThatSendsGarbageEndsTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		beginning string
		want      error
	}{"no JSON": {"garbage", ovsdb.ErrClosed}, "an endless text": {`{"id":1,"result":"`, jsonrpc.ErrTooLong}, "nothing": {"", jsonrpc.ErrTooLong}} {
		client, ctx := dial(t, ovstest.Broken(t, c.beginning, " "))
		if _, err := client.OtherConfig(ctx); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
