// Package switchdb reads and sets other_config in Open vSwitch's database.
package switchdb

import (
	"context"
	"errors"
	"time"

	"github.com/wallwatch/wallwatch/collectors/internal/ovs/ovsdb"
)

// Database opens one connection per call. Calls are rare, and a restarted database needs no care.
type Database struct {
	Socket string
}

const callTimeout = 5 * time.Second

// OtherConfig implements remedies.SwitchDatabase.
func (d Database) OtherConfig(ctx context.Context) (map[string]string, error) {
	var config map[string]string
	err := d.with(ctx, func(ctx context.Context, client *ovsdb.Client) error {
		var err error
		config, err = client.OtherConfig(ctx)
		return err
	})
	return config, err
}

// SetOtherConfig implements remedies.SwitchDatabase.
func (d Database) SetOtherConfig(ctx context.Context, set map[string]string, remove []string) error {
	return d.with(ctx, func(ctx context.Context, client *ovsdb.Client) error { return client.SetOtherConfig(ctx, set, remove) })
}

func (d Database) with(ctx context.Context, use func(context.Context, *ovsdb.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	client, err := ovsdb.Dial(ctx, d.Socket)
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
