package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
)

// serve runs until the context ends. At each hangup it reads the configuration again, as Telegraf does: the outputs send what they have, everything
// stops and begins again with the new one. A configuration that cannot be used changes nothing; the log has the reason.
func serve(ctx context.Context, o options, hangups <-chan os.Signal) error {
	if o.check {
		if err := check(o); err != nil {
			return err
		}
		fmt.Println("The configuration can be used.")
		return nil
	}
	for {
		reload, err := serveOnce(ctx, o, hangups)
		if !reload || (err != nil && !errors.Is(err, context.Canceled)) {
			return err
		}
		log.Print("I! [wallwatch-telegraf] Starting again with the new configuration")
	}
}

// serveOnce runs until the context ends or a hangup brings a configuration that can be used; it reports which.
func serveOnce(ctx context.Context, o options, hangups <-chan os.Signal) (reload bool, err error) {
	round, end := context.WithCancel(ctx)
	watched := make(chan bool, 1)
	go func() {
		watched <- waitForReload(round, o, hangups)
		end()
	}()
	err = run(round, o)
	end()
	return <-watched, err
}

// waitForReload returns true at a hangup with a configuration that can be used, and false when the context ends.
func waitForReload(ctx context.Context, o options, hangups <-chan os.Signal) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-hangups:
			if err := check(o); err != nil {
				log.Printf("E! [wallwatch-telegraf] Not reloaded, the former configuration stays: %v", err)
				continue
			}
			return true
		}
	}
}
