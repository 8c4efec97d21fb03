package agent

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/open-telemetry/opamp-go/protobufs"
	"github.com/open-telemetry/opamp-go/server"
	servertypes "github.com/open-telemetry/opamp-go/server/types"

	"github.com/wallwatch/wallwatch/collectors/agent/agenttest"
	"github.com/wallwatch/wallwatch/collectors/agent/connection"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
)

const testSecret = "agent1.s3cret"

// testServer is the server's side of the contract: enrolment over HTTP, then OpAMP over WebSocket, by the library's own server package.
type testServer struct {
	t    *testing.T
	http *httptest.Server

	mu          sync.Mutex
	enrolments  []map[string]string
	conn        servertypes.Connection
	connections int
	attributes  map[string]string
	capable     bool
	health      *protobufs.ComponentHealth
	results     []journal.Result
	acknowledge bool

	offer        *protobufs.AgentRemoteConfig
	configStatus *protobufs.RemoteConfigStatus
}

func startServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{t: t, acknowledge: true}
	opamp := server.New(nil)
	handler, withConn, err := opamp.Attach(server.Settings{Callbacks: servertypes.Callbacks{OnConnecting: s.connecting}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/opamp", http.HandlerFunc(handler))
	mux.HandleFunc("POST /api/v1/agents/enrol", s.enrol)
	s.http = httptest.NewUnstartedServer(mux)
	s.http.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context { return withConn(ctx, conn) }
	s.http.Start()
	t.Cleanup(s.http.Close)
	return s
}

func (s *testServer) enrol(w http.ResponseWriter, request *http.Request) {
	var body map[string]string
	if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if body["token"] != agenttest.Token || len(s.enrolments) > 0 {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"code": "enrolment_token_invalid", "detail": "the token was used or never existed"}`))
		return
	}
	s.enrolments = append(s.enrolments, body)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"agent_id": "agent1", "secret": "s3cret", "opamp_url": "ws" + s.http.URL[len("http"):] + "/v1/opamp",
		"command_keys": []map[string]string{{"kid": "k1", "alg": "EdDSA", "public_key": agenttest.PublicKey(agenttest.ServerKey)}},
	})
}

func (s *testServer) connecting(request *http.Request) servertypes.ConnectionResponse {
	if request.Header.Get("Authorization") != "Bearer "+testSecret {
		return servertypes.ConnectionResponse{Accept: false, HTTPStatusCode: http.StatusUnauthorized}
	}
	return servertypes.ConnectionResponse{Accept: true, ConnectionCallbacks: servertypes.ConnectionCallbacks{
		OnConnected: func(_ context.Context, conn servertypes.Connection) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conn, s.capable, s.attributes, s.health = conn, false, nil, nil
			s.connections++
		},
		OnMessage: s.message,
	}}
}

func (s *testServer) message(_ context.Context, _ servertypes.Connection, message *protobufs.AgentToServer) *protobufs.ServerToAgent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if description := message.AgentDescription; description != nil {
		s.attributes = map[string]string{}
		for _, attribute := range append(description.IdentifyingAttributes, description.NonIdentifyingAttributes...) {
			s.attributes[attribute.Key] = attribute.Value.GetStringValue()
		}
	}
	for _, capability := range message.CustomCapabilities.GetCapabilities() {
		s.capable = s.capable || capability == connection.RemedyCapability
	}
	if message.Health != nil {
		s.health = message.Health
	}
	if message.RemoteConfigStatus != nil {
		s.configStatus = message.RemoteConfigStatus
	}
	answer := &protobufs.ServerToAgent{InstanceUid: message.InstanceUid}
	if s.offer != nil && string(s.configStatus.GetLastRemoteConfigHash()) != string(s.offer.ConfigHash) {
		answer.RemoteConfig = s.offer
	}
	if custom := message.CustomMessage; custom != nil && custom.Type == "result" {
		var result journal.Result
		if err := json.Unmarshal(custom.Data, &result); err != nil {
			s.t.Errorf("a result that is not JSON: %v", err)
		}
		s.results = append(s.results, result)
		if s.acknowledge && result.CommandID != "" {
			data, _ := json.Marshal(map[string]string{"command_id": result.CommandID})
			answer.CustomMessage = &protobufs.CustomMessage{Capability: connection.RemedyCapability, Type: "ack", Data: data}
		}
	}
	return answer
}

func (s *testServer) send(message []byte) { s.sendAs("command", message) }

func (s *testServer) sendAs(kind string, message []byte) {
	s.t.Helper()
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	err := conn.Send(context.Background(), &protobufs.ServerToAgent{
		CustomMessage: &protobufs.CustomMessage{Capability: connection.RemedyCapability, Type: kind, Data: message},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// hangUp breaks the connection without a goodbye.
func (s *testServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.Disconnect()
}

func (s *testServer) got() []journal.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]journal.Result(nil), s.results...)
}

func (s *testServer) look(check func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return check()
}
