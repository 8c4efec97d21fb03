// Package connection is the agent's link to the server: OpAMP over WebSocket, with the results that wait for an acknowledgement, attachments in
// both directions, and explanations of failed connections.
package connection

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

	"github.com/wallwatch/wallwatch/collectors/agent/identity"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/policies"
)

// Custom capabilities: their messages carry remedies, renew certificates, and bring the telemetry key.
const (
	RemedyCapability      = "com.wallwatch.remedy.v1"
	CertificateCapability = "com.wallwatch.certificate.v1"
	TelemetryCapability   = "com.wallwatch.telemetry.v1"
)

// Types of the messages of RemedyCapability.
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

// Parts are what a link reports to the server and hands messages to.
type Parts struct {
	Outbox      *Outbox
	Policies    *policies.Store
	CommandKeys *identity.CommandKeys
	Renewal     *identity.Renewal
	// TelemetryKey may be nil, and then the agent does not announce the capability.
	TelemetryKey *identity.TelemetryKey
}

// Link is the connection to the server. It reconnects by itself.
type Link struct {
	// Inbox holds the attachments that the server sent.
	Inbox *Inbox

	parts    Parts
	client   client.OpAMPClient
	logger   *opampLogger
	log      *slog.Logger
	handlers Handlers
	instance uuid.UUID

	mu     sync.Mutex
	health *protobufs.ComponentHealth
	// description is sent on every connection, because the server may have been restarted or replaced since the last one.
	description *protobufs.AgentDescription
}

// New returns a link that is not connected yet.
func New(host, version string, instance uuid.UUID, parts Parts, log *slog.Logger) *Link {
	logger := &opampLogger{log: log}
	return &Link{
		Inbox: new(Inbox), parts: parts, client: client.NewWebSocket(logger), logger: logger, log: log, instance: instance,
		description: &protobufs.AgentDescription{
			IdentifyingAttributes: []*protobufs.KeyValue{
				textAttribute("service.name", "wallwatch-agent"), textAttribute("service.version", version),
				textAttribute("service.instance.id", instance.String()), textAttribute("host.name", host),
			},
			NonIdentifyingAttributes: []*protobufs.KeyValue{textAttribute("os.type", runtime.GOOS), textAttribute("host.arch", runtime.GOARCH)},
		},
	}
}

func textAttribute(key, value string) *protobufs.KeyValue {
	return &protobufs.KeyValue{Key: key, Value: &protobufs.AnyValue{Value: &protobufs.AnyValue_StringValue{StringValue: value}}}
}

// Target is where to connect and with which credentials.
type Target struct {
	Address string
	// Secret is for an agent without a certificate; "" otherwise.
	Secret string
	// TLS must be nil for a plain ws address, because the OpAMP client takes its presence for a request for wss.
	TLS       *tls.Config
	Heartbeat time.Duration
}

// Handlers are called for messages of the server, one at a time.
type Handlers struct {
	Command      func(message []byte)
	Acknowledged func(commandID string)
}

// websocketDialer guards the library's default dialer, the only way to pass our dial function to the OpAMP client.
var websocketDialer sync.Mutex

// Start begins to connect. SetHealth has to be called before.
func (l *Link) Start(ctx context.Context, target Target, handlers Handlers) error {
	l.handlers = handlers
	if err := l.describe(); err != nil { // before the capability to report health, which requires a health
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
	if target.Secret != "" {
		header.Set("Authorization", "Bearer "+target.Secret)
	}
	l.logger.refusal = (&refusalProbe{address: target.Address, header: header, settings: target.TLS}).reason
	return l.client.Start(ctx, types.StartSettings{
		OpAMPServerURL:     target.Address,
		Header:             header,
		TLSConfig:          target.TLS,
		InstanceUid:        types.InstanceUid(l.instance),
		RemoteConfigStatus: l.parts.Policies.Status(),
		HeartbeatInterval:  &target.Heartbeat,
		Callbacks: types.Callbacks{
			OnConnect: func(context.Context) {
				l.log.Info("connected to the server")
				if err := errors.Join(l.describe(), l.reportPolicies()); err != nil {
					l.log.Error("the agent's description could not be queued", "error", err)
				}
				l.parts.Outbox.Reconnected()
			},
			OnError: func(_ context.Context, failure *protobufs.ServerErrorResponse) {
				l.log.Error("the server reports an error", "message", failure.GetErrorMessage())
			},
			OnMessage: l.onMessage,
		},
	})
}

// describe queues everything that a server must know about this agent.
func (l *Link) describe() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(
		l.client.SetAgentDescription(l.currentDescription()),
		l.client.SetCustomCapabilities(&protobufs.CustomCapabilities{Capabilities: l.capabilities()}),
		l.client.SetHealth(l.health),
	)
}

func (l *Link) capabilities() []string {
	if l.parts.TelemetryKey == nil {
		return []string{RemedyCapability, CertificateCapability}
	}
	return []string{RemedyCapability, CertificateCapability, TelemetryCapability}
}

// currentDescription adds what changes to the description: which command keys are trusted, and why a new one was not.
func (l *Link) currentDescription() *protobufs.AgentDescription {
	kids, refused := l.parts.CommandKeys.State()
	return &protobufs.AgentDescription{
		IdentifyingAttributes: l.description.IdentifyingAttributes,
		NonIdentifyingAttributes: append(slices.Clip(l.description.NonIdentifyingAttributes),
			textAttribute("wallwatch.command_keys", kids), textAttribute("wallwatch.command_key_refused", refused)),
	}
}

// reportPolicies queues which policies the agent has; the client refuses it before it has the capability.
func (l *Link) reportPolicies() error {
	if status := l.parts.Policies.Status(); status != nil {
		return l.client.SetRemoteConfigStatus(status)
	}
	return nil
}

// SetHealth reports a change of health; an unchanged health is not sent again.
func (l *Link) SetHealth(health *protobufs.ComponentHealth) {
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

func (l *Link) onMessage(_ context.Context, message *types.MessageData) {
	if message.RemoteConfig != nil {
		if err := l.client.SetRemoteConfigStatus(l.parts.Policies.Accept(message.RemoteConfig)); err != nil {
			l.log.Error("the state of the policies could not be reported", "error", err)
		}
	}
	switch custom := message.CustomMessage; custom.GetCapability() {
	case CertificateCapability:
		l.parts.Renewal.Handle(custom.Type, custom.Data)
	case TelemetryCapability:
		if l.parts.TelemetryKey != nil {
			l.parts.TelemetryKey.Handle(custom.Type, custom.Data)
		}
	case RemedyCapability:
		l.onRemedyMessage(custom.Type, custom.Data)
	}
}

func (l *Link) onRemedyMessage(kind string, data []byte) {
	switch kind {
	case messageCommand:
		l.handlers.Command(data)
	case messageAck:
		var ack struct {
			CommandID string `json:"command_id"`
		}
		if err := json.Unmarshal(data, &ack); err != nil || ack.CommandID == "" {
			l.log.Warn("the server sent an acknowledgement without a command id")
			return
		}
		l.handlers.Acknowledged(ack.CommandID)
	case messageAttachment:
		if err := l.Inbox.put(data); err != nil {
			l.log.Warn("the server sent an attachment that cannot be used", "error", err)
		}
	case messageKey:
		l.parts.CommandKeys.Introduce(data)
		if err := l.describe(); err != nil {
			l.log.Error("the command keys could not be reported", "error", err)
		}
	default:
		l.log.Warn("the server sent a message of unknown type", "type", kind)
	}
}

// Deliver sends results and certificate requests until ctx ends. The client holds one custom message at a time and keeps it while there is no
// connection.
func (l *Link) Deliver(ctx context.Context) {
	var renewals sync.WaitGroup
	renewals.Go(func() {
		l.parts.Renewal.SendRequests(ctx, func(ctx context.Context, kind string, data []byte) {
			l.sendMessage(ctx, CertificateCapability, kind, data)
		})
	})
	defer renewals.Wait()
	for ctx.Err() == nil {
		result, idle, due := l.parts.Outbox.Next()
		if !due {
			timer := time.NewTimer(idle)
			select {
			case <-ctx.Done():
			case <-l.parts.Outbox.Wake():
			case <-timer.C:
			}
			timer.Stop()
			continue
		}
		l.sendResult(ctx, result)
	}
}

func (l *Link) sendResult(ctx context.Context, result journal.Result) {
	data, err := json.Marshal(result)
	if err != nil {
		l.log.Error("a result cannot be encoded", "command_id", result.CommandID, "error", err)
		return
	}
	for _, attachment := range l.parts.Outbox.Attachments(result.CommandID) {
		for _, message := range attachmentMessages(result.CommandID, attachment) {
			l.sendMessage(ctx, RemedyCapability, messageAttachment, message)
		}
	}
	l.sendMessage(ctx, RemedyCapability, messageResult, data)
}

// Progress reports how far a command is. It is dropped while another message is on its way: the next report supersedes it.
func (l *Link) Progress(commandID string, done, total int) {
	data, err := json.Marshal(map[string]any{"command_id": commandID, "done": done, "total": total})
	if err == nil {
		_, _ = l.client.SendCustomMessage(&protobufs.CustomMessage{Capability: RemedyCapability, Type: messageProgress, Data: data})
	}
}

func (l *Link) sendMessage(ctx context.Context, capability, kind string, data []byte) {
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

// Stop disconnects from the server.
func (l *Link) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := l.client.Stop(ctx); err != nil {
		l.log.Warn("the connection did not close cleanly", "error", err)
	}
}
