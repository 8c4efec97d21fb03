// Package agent is the part of Wallwatch that acts on a host: it takes signed commands over OpAMP, carries out the few compiled-in remedies, and
// remembers in a journal what it did.
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
	"github.com/wallwatch/wallwatch/collectors/agent/journal"
	"github.com/wallwatch/wallwatch/collectors/agent/kernel"
	"github.com/wallwatch/wallwatch/collectors/agent/remedies"
)

// queueLength bounds commands that wait for their turn; an operator sends one at a time.
const queueLength = 64

// Run runs the agent until ctx ends. It returns an error when it cannot work at all: a wrong configuration, a refused enrolment, a journal that
// another process holds. A server or an Open vSwitch that is away is no such reason.
func Run(ctx context.Context, config Config, version string, log *slog.Logger) error {
	started := time.Now()
	// Others may enter, since the CNI plugin reads the cordons in it; what is secret has mode 0600.
	if err := os.MkdirAll(config.StateDir, 0o755); err != nil { //nolint:gosec // G301: as said
		return fmt.Errorf("making state_dir: %w", err)
	}
	trust, err := config.trust()
	if err != nil {
		return err
	}
	record, err := journal.Open(config.StateDir)
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }()
	if record.CutBytes() > 0 {
		log.Warn("the journal ended in the middle of a line, as a crash leaves it; that line is gone", "bytes", record.CutBytes())
	}
	if dropped, err := record.CompactIfLarge(config.StateDir, started); err != nil {
		log.Warn("the journal could not be tidied and goes on as it is", "error", err)
	} else if dropped > 0 {
		log.Info("old commands were dropped from the journal", "commands", dropped)
	}
	httpClient, err := config.HTTPClient(15 * time.Second)
	if err != nil {
		return err
	}
	credentials, err := ensureEnrolled(ctx, config, httpClient, version, log)
	if ctx.Err() != nil {
		return nil // told to stop while it was waiting for the server
	}
	if err != nil {
		return err
	}
	for {
		err := serve(ctx, config, credentials, trust, record, version, started, log)
		if !errors.Is(err, errMoved) {
			return err
		}
		if credentials, err = LoadCredentials(config.StateDir); err != nil {
			return err
		}
	}
}

// errMoved ends serve when the credentials on the disk are of another kind than those with which it began.
var errMoved = errors.New("this agent has a certificate now")

// address returns where to connect. An address of the configuration that is of no use to an agent with a certificate is from before it had one.
func (c Credentials) address(configured string, log *slog.Logger) string {
	switch {
	case configured == "":
		return c.OpAMPURL
	case c.Certificate != "" && !strings.HasPrefix(configured, "wss://"):
		log.Warn("opamp_url of the configuration is not used: agents with certificates connect to a wss address", "configured", configured, "used", c.OpAMPURL)
		return c.OpAMPURL
	}
	return configured
}

func serve(whole context.Context, config Config, credentials Credentials, trust *tls.Config, record *journal.Journal, version string,
	started time.Time, log *slog.Logger,
) error {
	ctx, end := context.WithCancelCause(whole)
	defer end(nil)
	keys, err := credentials.Keys()
	if err != nil {
		return err
	}
	decoder, err := command.NewDecoder(config.Host, keys)
	if err != nil {
		return err
	}
	instance, err := uuid.Parse(credentials.InstanceUID)
	if err != nil {
		return err
	}
	database := switchDatabase{socket: config.OVSDBSocket}
	outbox := NewOutbox(time.Now, record.Undelivered(time.Now().Add(-outboxAge)))
	l := newLink(config, version, credentials.InstanceUID, outbox, openPolicies(config.StateDir, log), log)
	file := &credentialFile{stateDir: config.StateDir}
	own, err := newIdentity(credentials)
	if err != nil {
		return err
	}
	l.certificates = newCertificateStore(config.Host, file, own, func() { end(errMoved) }, log)
	l.keys = &keyStore{file: file, decoder: decoder, now: time.Now, log: log}
	executor := &Executor{
		Decoder: decoder, Journal: record, Log: log, Now: time.Now, Progress: l.progress,
		Registry: remedies.NewRegistry(remedies.Host{
			Database: database, Kernel: kernel.Open(config.Netlink, config.SysfsRoot), SysfsRoot: config.SysfsRoot,
			CordonDir: config.CordonDir(), PaceDir: config.PaceDir(),
			Name: config.Host, FlowSocket: config.VSwitchdSocket, PlanDir: config.PlanDir(), Inbox: l.inbox,
		}),
	}
	commands := newQueue(executor, outbox)
	l.onCommand = commands.offer
	l.onAck = func(commandID string) {
		if outbox.Acknowledge(commandID) {
			acknowledged := journal.Record{Kind: journal.KindDelivered, At: time.Now().UTC(), CommandID: commandID}
			if err := record.Remember(acknowledged); err != nil {
				log.Error("an acknowledgement could not be journalled; after a restart the result may be sent again", "command_id", commandID, "error", err)
			}
		}
	}
	checker := healthChecker{started: started, database: database, sysfs: config.SysfsRoot, journal: record, identity: own, now: time.Now}
	l.setHealth(checker.check(ctx))
	address := credentials.address(config.OpAMPURL, log)
	authorization, settings := credentials.AgentID+"."+credentials.Secret, trustFor(address, trust)
	if own != nil {
		authorization, settings = "", own.tls(hostname(address))
		if err := own.checkEnd(time.Now()); err != nil {
			log.Error("the server will not let this agent in unless this host's clock is wrong", "error", err)
		}
	}
	if err := l.start(ctx, address, authorization, instance, config.Heartbeat(), settings); err != nil {
		return fmt.Errorf("starting the connection to %s: %w", address, err)
	}
	log.Info("agent started", "version", version, "server", address, "agent_id", credentials.AgentID, "certificate", own != nil)

	var workers sync.WaitGroup
	workers.Go(func() { commands.work(ctx) })
	workers.Go(func() { l.deliver(ctx) })
	workers.Go(func() { l.certificates.deliver(ctx, l.sendMessage) })
	workers.Go(func() {
		for ctx.Err() == nil {
			sleep(ctx, healthInterval)
			if ctx.Err() == nil {
				l.setHealth(checker.check(ctx))
			}
		}
	})
	<-ctx.Done()
	workers.Wait()
	l.stop()
	if whole.Err() == nil {
		return context.Cause(ctx)
	}
	log.Info("agent stopped")
	return nil
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

// HTTPClient returns the client for enrolment.
func (c Config) HTTPClient(timeout time.Duration) (*http.Client, error) {
	trust, err := c.trust()
	if err != nil {
		return nil, err
	}
	return &http.Client{Timeout: timeout, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust}}, nil
}

// trustFor leaves TLS settings out for a plain ws address, since the OpAMP client takes their presence for a wish for wss.
func trustFor(address string, settings *tls.Config) *tls.Config {
	if strings.HasPrefix(address, "ws://") {
		return nil
	}
	return settings
}

func hostname(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}
