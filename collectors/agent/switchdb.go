package agent

import (
	"context"
	"errors"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
)

// switchDatabase reaches Open vSwitch's database with one connection for each call. Calls are rare, and a restarted database needs no care.
type switchDatabase struct {
	socket string
}

const databaseTimeout = 5 * time.Second

// OtherConfig implements remedies.SwitchDatabase.
func (s switchDatabase) OtherConfig(ctx context.Context) (map[string]string, error) {
	var config map[string]string
	err := s.with(ctx, func(ctx context.Context, client *ovsdb.Client) error {
		var err error
		config, err = client.OtherConfig(ctx)
		return err
	})
	return config, err
}

// SetOtherConfig implements remedies.SwitchDatabase.
func (s switchDatabase) SetOtherConfig(ctx context.Context, set map[string]string, remove []string) error {
	return s.with(ctx, func(ctx context.Context, client *ovsdb.Client) error { return client.SetOtherConfig(ctx, set, remove) })
}

func (s switchDatabase) with(ctx context.Context, use func(context.Context, *ovsdb.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	client, err := ovsdb.Dial(ctx, s.socket)
	if err != nil {
		return err
	}
	useErr := use(ctx, client)
	// A connection that closes badly after a good answer has still answered.
	if closeErr := client.Close(); useErr != nil {
		return errors.Join(useErr, closeErr)
	}
	return nil
}
