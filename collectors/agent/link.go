package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/websocket"
	"github.com/open-telemetry/opamp-go/client"
	"github.com/open-telemetry/opamp-go/client/types"
	"github.com/open-telemetry/opamp-go/protobufs"

	"github.com/wallwatch/wallwatch/collectors/agent/journal"
)

// Capability names the custom messages that carry remedies.
const Capability = "com.wallwatch.remedy.v1"

// Types of custom messages.
const (
	messageCommand = "command"
	messageResult  = "result"
	messageAck     = "ack"
	// messageAttachment goes both ways, messageProgress to the server.
	messageAttachment = "attachment"
	messageProgress   = "progress"
	// messageKey introduces a command key.
	messageKey = "key"
)

// link is the connection to the server: OpAMP over WebSocket, reconnecting by itself.
type link struct {
	client       client.OpAMPClient
	attempts     *opampLogger
	outbox       *Outbox
	log          *slog.Logger
	onCommand    func(message []byte)
	onAck        func(commandID string)
	policies     *policyStore
	inbox        *inbox
	keys         *keyStore
	certificates *certificateStore

	mu     sync.Mutex
	health *protobufs.ComponentHealth
	// description is sent again on every connection, because the server may have been restarted or replaced since the last one.
	description *protobufs.AgentDescription
}

func newLink(config Config, version string, instanceUID string, outbox *Outbox, policies *policyStore, log *slog.Logger) *link {
	text := textAttribute
	attempts := &opampLogger{log: log}
	return &link{
		client: client.NewWebSocket(attempts), attempts: attempts, outbox: outbox, policies: policies, inbox: new(inbox), log: log,
		description: &protobufs.AgentDescription{
			IdentifyingAttributes: []*protobufs.KeyValue{
				text("service.name", "wallwatch-agent"), text("service.version", version),
				text("service.instance.id", instanceUID), text("host.name", config.Host),
			},
			NonIdentifyingAttributes: []*protobufs.KeyValue{text("os.type", runtime.GOOS), text("host.arch", runtime.GOARCH)},
		},
	}
}

func textAttribute(key, value string) *protobufs.KeyValue {
	return &protobufs.KeyValue{Key: key, Value: &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: value}}}
}

// websocketDialer guards the library's default dialer, which is the only way to hand our own dial function to the OpAMP client.
var websocketDialer sync.Mutex

func (l *link) start(ctx context.Context, address, authorization string, instanceUID uuid.UUID, heartbeat time.Duration, trust *tls.Config) error {
	if err := l.describe(); err != nil { // before the capability to report health, which wants one
		return err
	}
	capabilities := protobufs.AgentCapabilities_AgentCapabilities_ReportsStatus | protobufs.AgentCapabilities_AgentCapabilities_ReportsHealth |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsHeartbeat | protobufs.AgentCapabilities_AgentCapabilities_AcceptsRemoteConfig |
		protobufs.AgentCapabilities_AgentCapabilities_ReportsRemoteConfig
	if err := l.client.SetCapabilities(&capabilities); err != nil {
		return err
	}
	websocketDialer.Lock()
	defer websocketDialer.Unlock()
	former := websocket.DefaultDialer.NetDialContext
	websocket.DefaultDialer.NetDialContext = new(pacedDialer).dial
	defer func() { websocket.DefaultDialer.NetDialContext = former }()
	header := http.Header{}
	if authorization != "" {
		header.Set("Authorization", "Bearer "+authorization)
	}
	l.attempts.why = (&asker{address: address, header: header, settings: trust}).why
	return l.client.Start(ctx, types.StartSettings{
		OpAMPServerURL:     address,
		Header:             header,
		TLSConfig:          trust,
		InstanceUid:        types.InstanceUid(instanceUID),
		RemoteConfigStatus: l.policies.status(),
		HeartbeatInterval:  &heartbeat,
		Callbacks: types.Callbacks{
			OnConnect: func(context.Context) {
				l.log.Info("connected to the server")
				if err := errors.Join(l.describe(), l.reportPolicies()); err != nil {
					l.log.Error("the agent's description could not be queued", "error", err)
				}
				l.outbox.Reconnected()
			},
			OnError: func(_ context.Context, failure *protobufs.ServerErrorResponse) {
				l.log.Error("the server reports an error", "message", failure.GetErrorMessage())
			},
			OnMessage: l.onMessage,
		},
	})
}

// describe queues everything that a server must know about this agent.
func (l *link) describe() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(
		l.client.SetAgentDescription(l.described()),
		l.client.SetCustomCapabilities(&protobufs.CustomCapabilities{Capabilities: []string{Capability, CertificateCapability}}),
		l.client.SetHealth(l.health),
	)
}

// described adds what changes to the description: which command keys are trusted, and why a new one was not.
func (l *link) described() *protobufs.AgentDescription {
	kids, refused := l.keys.state()
	return &protobufs.AgentDescription{
		IdentifyingAttributes: l.description.IdentifyingAttributes,
		NonIdentifyingAttributes: append(slices.Clip(l.description.NonIdentifyingAttributes),
			textAttribute("wallwatch.command_keys", kids), textAttribute("wallwatch.command_key_refused", refused)),
	}
}

// reportPolicies queues which policies there are; the client refuses it before it has the capability.
func (l *link) reportPolicies() error {
	if status := l.policies.status(); status != nil {
		return l.client.SetRemoteConfigStatus(status)
	}
	return nil
}

// setHealth reports a change of health; the same again is not sent.
func (l *link) setHealth(health *protobufs.ComponentHealth) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sameHealth(l.health, health) {
		return
	}
	first := l.health == nil
	l.health = health
	if first {
		return
	}
	l.log.Info("health changed", "healthy", health.Healthy, "error", health.LastError)
	if err := l.client.SetHealth(health); err != nil {
		l.log.Error("health could not be reported", "error", err)
	}
}

func (l *link) onMessage(_ context.Context, message *types.MessageData) {
	if message.RemoteConfig != nil {
		if err := l.client.SetRemoteConfigStatus(l.policies.take(message.RemoteConfig)); err != nil {
			l.log.Error("the state of the policies could not be reported", "error", err)
		}
	}
	custom := message.CustomMessage
	if custom != nil && custom.Capability == CertificateCapability {
		l.certificates.take(custom.Type, custom.Data)
		return
	}
	if custom == nil || custom.Capability != Capability {
		return
	}
	switch custom.Type {
	case messageCommand:
		l.onCommand(custom.Data)
	case messageAck:
		var ack struct {
			CommandID string `json:"command_id"`
		}
		if err := json.Unmarshal(custom.Data, &ack); err != nil || ack.CommandID == "" {
			l.log.Warn("the server sent an acknowledgement without a command id")
			return
		}
		l.onAck(ack.CommandID)
	case messageAttachment:
		if err := l.inbox.take(custom.Data); err != nil {
			l.log.Warn("the server sent an attachment that cannot be used", "error", err)
		}
	case messageKey:
		l.keys.take(custom.Data)
		if err := l.describe(); err != nil {
			l.log.Error("the command keys could not be reported", "error", err)
		}
	default:
		l.log.Warn("the server sent a message of unknown type", "type", custom.Type)
	}
}

// deliver sends results until ctx ends. The client holds one custom message at a time and keeps it while there is no connection.
func (l *link) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		result, idle, due := l.outbox.Next()
		if !due {
			timer := time.NewTimer(idle)
			select {
			case <-ctx.Done():
			case <-l.outbox.Wake():
			case <-timer.C:
			}
			timer.Stop()
			continue
		}
		l.send(ctx, result)
	}
}

func (l *link) send(ctx context.Context, result journal.Result) {
	data, err := json.Marshal(result)
	if err != nil {
		l.log.Error("a result cannot be encoded", "command_id", result.CommandID, "error", err)
		return
	}
	for _, attachment := range l.outbox.Attachments(result.CommandID) {
		for _, part := range partsOf(result.CommandID, attachment) {
			l.sendMessage(ctx, Capability, messageAttachment, part)
		}
	}
	l.sendMessage(ctx, Capability, messageResult, data)
}

// progress tells how far a command has come, unless another message is on its way: the next one says more.
func (l *link) progress(commandID string, done, total int) {
	data, err := json.Marshal(map[string]any{"command_id": commandID, "done": done, "total": total})
	if err == nil {
		_, _ = l.client.SendCustomMessage(&protobufs.CustomMessage{Capability: Capability, Type: messageProgress, Data: data})
	}
}

func (l *link) sendMessage(ctx context.Context, capability, kind string, data []byte) {
	message := &protobufs.CustomMessage{Capability: capability, Type: kind, Data: data}
	for {
		sending, err := l.client.SendCustomMessage(message)
		if err != nil && !errors.Is(err, types.ErrCustomMessagePending) {
			l.log.Error("a message cannot be sent", "type", kind, "error", err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-sending:
		}
		if err == nil {
			return
		}
	}
}

// stop says goodbye to the server.
func (l *link) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := l.client.Stop(ctx); err != nil {
		l.log.Warn("the connection did not close cleanly", "error", err)
	}
}
