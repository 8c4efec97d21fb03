package ovsdb

import (
	"encoding/json"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
)

// Whatever a server sends as an update, a monitor neither blocks the connection nor ends the process.
func FuzzNoUpdateStopsAMonitor(f *testing.F) {
	f.Add([]byte(`{"Open_vSwitch":{"row":{"new":{"other_config":["map",[["max-idle","30000"]]]}}}}`))
	f.Add([]byte(`{"Open_vSwitch":{"row":{"old":{}},"two":{"new":{"other_config":["set",[]]}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		values := make(chan map[string]string, 1)
		offerNewest(values, raw)
		offerNewest(values, raw)
		if len(values) > 1 {
			t.Error("more than the newest value")
		}
		_, _ = decodeMap(raw)
		var selected selectRows
		_ = json.Unmarshal(raw, &selected)
	})
}

// A server that answers a transaction with anything at all gives a result or an error.
func FuzzNoAnswerStopsATransaction(f *testing.F) {
	f.Add([]byte(`[{"rows":[{"other_config":["map",[]]}]}]`), []byte("null"))
	f.Add([]byte(`[{"error":"constraint violation","details":"x"}]`), []byte(`{"error":"unknown database"}`))
	f.Add([]byte(`[null]`), []byte(`""`))
	f.Fuzz(func(t *testing.T, result, failure []byte) {
		if !json.Valid(result) || !json.Valid(failure) {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			go answer(theirs, result, failure)
			client := start(ours)
			settings, err := client.OtherConfig(t.Context())
			if err == nil && settings == nil {
				t.Error("neither settings nor an error")
			}
			_ = client.Close()
			_ = theirs.Close()
		})
	})
}

func answer(stream net.Conn, result, failure json.RawMessage) {
	server := jsonrpc.NewConn(stream)
	request, err := server.Receive()
	if err != nil {
		return
	}
	_ = server.Send(&jsonrpc.Message{Result: result, Error: failure, ID: request.ID})
	_, _ = io.Copy(io.Discard, stream)
}
