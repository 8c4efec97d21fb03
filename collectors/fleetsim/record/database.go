package record

import (
	"context"
	"encoding/json"
	"net"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/jsonrpc"
)

// serveSettings answers on a socket as a host's ovsdb-server would to the one question that a collector has: what other_config is.
// A real server is not started, since nobody changes anything.
func serveSettings(ctx context.Context, path string, settings map[string]string) error {
	if len(settings) == 0 {
		settings = map[string]string{"hw-offload": "true"} // what fleetsim run starts with
	}
	pairs := [][2]string{}
	for key, value := range settings {
		pairs = append(pairs, [2]string{key, value})
	}
	row := map[string]any{"other_config": []any{"map", pairs}}
	answer, err := json.Marshal([]any{map[string]any{"rows": []any{row}}})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			go answerAll(jsonrpc.NewConn(stream), answer)
		}
	}()
	return nil
}

func answerAll(conn *jsonrpc.Conn, answer json.RawMessage) {
	defer func() { _ = conn.Close() }()
	for {
		request, err := conn.Receive()
		if err != nil || conn.Send(jsonrpc.Reply(request.ID, answer)) != nil {
			return
		}
	}
}
