// Package agent is the part of Wallwatch that acts on a host: it takes signed commands over OpAMP, carries out the few compiled-in remedies, and
// records in a journal what it did. This package wires its parts together:
//
//	agent -> connection -> identity -> command
//	      -> execution  -> remedies -> kernel, flowtable, cordon, pace
//	      -> switchdb, policies, journal
//	      -> probes
//
// connection and execution do not know each other.
package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/wallwatch/wallwatch/collectors/agent/command"
	"github.com/wallwatch/wallwatch/collectors/agent/connection"
	"github.com/wallwatch/wallwatch/collectors/agent/execution"
	"github.com/wallwatch/wallwatch/collectors/agent/identity"
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/policies"
	"github.com/wallwatch/wallwatch/collectors/agent/probes"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
	"github.com/wallwatch/wallwatch/collectors/agent/switchdb"
	"github.com/wallwatch/wallwatch/collectors/internal/wait"
)

// Run runs the agent until ctx ends. It returns an error when it cannot work at all: a wrong configuration, a refused enrolment, a journal that
// another process holds. An unreachable server or Open vSwitch is no such reason.
func Run(ctx context.Context, config Config, version string, log *slog.Logger) error {
	started := time.Now()
	// Others may enter, because the CNI plugin reads the cordons in it; what is secret has mode 0600.
	if err := os.MkdirAll(config.StateDir, 0o755); err != nil { //nolint:gosec // G301: as said
		return fmt.Errorf("creating state_dir: %w", err)
	}
	enrolment, err := config.Enrolment(version)
	if err != nil {
		return err
	}
	record, err := openJournal(config.StateDir, started, log)
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }()
	stopProbes, err := config.startProbes(ctx, log)
	if err != nil {
		return err
	}
	defer stopProbes()
	credentials, err := enrolment.Ensure(ctx, log)
	if ctx.Err() != nil {
		return nil // stopped while it was waiting for the server
	}
	if err != nil {
		return err
	}
	for {
		s := session{config: config, version: version, started: started, credentials: credentials, journal: record, log: log}
		err := s.run(ctx)
		if !errors.Is(err, errSecretReplaced) {
			return err
		}
		if credentials, err = identity.LoadCredentials(config.StateDir); err != nil {
			return err
		}
	}
}

// startProbes runs the probes between agents, if the configuration has them on; they need no server. The returned function ends them and waits.
func (c Config) startProbes(ctx context.Context, log *slog.Logger) (stop func(), err error) {
	if !c.Probes.Enabled {
		return func() {}, nil
	}
	prober, err := probes.New(c.Probes, c.Host, log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { prober.Run(ctx) })
	return func() { cancel(); running.Wait() }, nil
}

func openJournal(stateDir string, now time.Time, log *slog.Logger) (*journal.Journal, error) {
	record, err := journal.Open(stateDir)
	if err != nil {
		return nil, err
	}
	if record.CutBytes() > 0 {
		log.Warn("the journal ended in the middle of a line, as after a crash; that line was removed", "bytes", record.CutBytes())
	}
	if dropped, err := record.CompactIfLarge(stateDir, now); err != nil {
		log.Warn("the journal could not be compacted and stays as it is", "error", err)
	} else if dropped > 0 {
		log.Info("old commands were dropped from the journal", "commands", dropped)
	}
	return record, nil
}

// healthInterval is how often the agent checks what it depends on.
const healthInterval = 10 * time.Second

// errSecretReplaced ends a session that began with a secret when a certificate has replaced it on the disk.
var errSecretReplaced = errors.New("this agent has a certificate now")

// session is the agent from the start of its connection until it stops, or until a certificate replaces its secret.
type session struct {
	config      Config
	version     string
	started     time.Time
	credentials identity.Credentials
	journal     *journal.Journal
	log         *slog.Logger
}

func (s *session) run(whole context.Context) error {
	ctx, end := context.WithCancelCause(whole)
	defer end(nil)
	certificate, err := identity.NewCertificate(s.credentials)
	if err != nil {
		return err
	}
	outbox := connection.NewOutbox(time.Now, s.journal.Undelivered(time.Now().Add(-connection.MaxResultAge)))
	database := switchdb.Database{Socket: s.config.OVSDBSocket}
	link, decoder, err := s.newLink(outbox, certificate, func() { end(errSecretReplaced) })
	if err != nil {
		return err
	}
	queue := execution.NewQueue(s.newExecutor(decoder, database, link), outbox)
	health := healthChecker{
		started: s.started, database: database, sysfs: s.config.SysfsRoot, journal: s.journal, certificate: certificate, now: time.Now,
	}
	link.SetHealth(health.check(ctx))
	target, err := s.target(certificate)
	if err != nil {
		return err
	}
	handlers := connection.Handlers{Command: queue.Offer, Acknowledged: s.acknowledged(outbox)}
	if err := link.Start(ctx, target, handlers); err != nil {
		return fmt.Errorf("starting the connection to %s: %w", target.Address, err)
	}
	s.log.Info("agent started", "version", s.version, "server", target.Address, "agent_id", s.credentials.AgentID, "certificate", certificate != nil)

	var workers sync.WaitGroup
	workers.Go(func() { queue.Work(ctx) })
	workers.Go(func() { link.Deliver(ctx) })
	workers.Go(func() {
		for wait.For(ctx, healthInterval); ctx.Err() == nil; wait.For(ctx, healthInterval) {
			link.SetHealth(health.check(ctx))
		}
	})
	<-ctx.Done()
	workers.Wait()
	link.Stop()
	if whole.Err() == nil {
		return context.Cause(ctx)
	}
	s.log.Info("agent stopped")
	return nil
}

// newLink returns the link, and the decoder of the commands that come over it.
func (s *session) newLink(outbox *connection.Outbox, certificate *identity.Certificate, secretReplaced func()) (*connection.Link, *command.Decoder, error) {
	keys, err := s.credentials.Keys()
	if err != nil {
		return nil, nil, err
	}
	decoder, err := command.NewDecoder(s.config.Host, keys)
	if err != nil {
		return nil, nil, err
	}
	instance, err := uuid.Parse(s.credentials.InstanceUID)
	if err != nil {
		return nil, nil, err
	}
	file := identity.NewCredentialFile(s.config.StateDir)
	return connection.New(s.config.Host, s.version, instance, connection.Parts{
		Outbox:      outbox,
		Policies:    policies.Open(s.config.StateDir, s.log),
		CommandKeys: identity.NewCommandKeys(file, decoder, time.Now, s.log),
		Renewal:     identity.NewRenewal(s.config.Host, file, certificate, secretReplaced, s.log),

		TelemetryKey: identity.NewTelemetryKey(s.config.StateDir, s.log),
	}, s.log), decoder, nil
}

func (s *session) newExecutor(decoder *command.Decoder, database remedies.SwitchDatabase, link *connection.Link) *execution.Executor {
	return &execution.Executor{
		Decoder: decoder, Journal: s.journal, Log: s.log, Now: time.Now, Progress: link.Progress,
		Registry: remedies.NewRegistry(remedies.Host{
			Name: s.config.Host, Database: database, Kernel: kernel.Open(s.config.Netlink, s.config.SysfsRoot), SysfsRoot: s.config.SysfsRoot,
			FlowSocket: s.config.VSwitchdSocket, CordonDir: s.config.CordonDir(), PaceDir: s.config.PaceDir(), PlanDir: s.config.PlanDir(),
			Inbox: link.Inbox,
		}),
	}
}

// acknowledged returns what to do when the server has stored a result.
func (s *session) acknowledged(outbox *connection.Outbox) func(commandID string) {
	return func(commandID string) {
		if !outbox.Acknowledge(commandID) {
			return
		}
		delivered := journal.Record{Kind: journal.KindDelivered, At: time.Now().UTC(), CommandID: commandID}
		if err := s.journal.Remember(delivered); err != nil {
			s.log.Error("an acknowledgement could not be journalled; after a restart the result may be sent again", "command_id", commandID, "error", err)
		}
	}
}

// target returns where to connect, with the certificate or, where there is none, with the secret.
func (s *session) target(certificate *identity.Certificate) (connection.Target, error) {
	address := s.credentials.Address(s.config.OpAMPURL, s.log)
	target := connection.Target{Address: address, Heartbeat: s.config.Heartbeat()}
	if certificate != nil {
		target.TLS = certificate.TLS(hostname(address))
		if err := certificate.CheckExpiry(time.Now()); err != nil {
			s.log.Error("the server will refuse this agent unless this host's clock is wrong", "error", err)
		}
		return target, nil
	}
	target.Secret = s.credentials.AgentID + "." + s.credentials.Secret
	if strings.HasPrefix(address, "ws://") {
		return target, nil
	}
	var err error
	target.TLS, err = s.config.trust()
	return target, err
}

// Enrolment is how this agent enrols.
func (c Config) Enrolment(version string) (identity.Enrolment, error) {
	trust, err := c.trust()
	if err != nil {
		return identity.Enrolment{}, err
	}
	// Long enough for a server on which a whole fleet enrols: an answer that nobody waits for has used up the token all the same.
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust}}
	return identity.Enrolment{
		Client: client, ServerURL: c.ServerURL, Host: c.Host, Version: version, StateDir: c.StateDir, TokenFile: c.EnrolmentTokenFile,
	}, nil
}

// trust returns the TLS settings for the configured authority, nil for the system's.
func (c Config) trust() (*tls.Config, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	content, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("ca_file %s holds no PEM certificate", c.CAFile)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func hostname(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}
