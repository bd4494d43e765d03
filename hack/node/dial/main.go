// SPDX-License-Identifier: Apache-2.0

// Command dial is the program of a test's pod: `dial wait` waits to be ended, `dial HOST:PORT...` says which of these it
// can connect to.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// patience is long enough for a first packet that was lost and sent again, and short enough to see that all of them are dropped.
const patience = 2500 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 2 && os.Args[1] == "wait" {
		<-ctx.Done()
		return
	}
	var all sync.WaitGroup
	for _, address := range os.Args[1:] {
		all.Go(func() { fmt.Println(address, dial(ctx, address)) })
	}
	all.Wait()
}

func dial(ctx context.Context, address string) string {
	connection, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "shut: " + err.Error()
	}
	_ = connection.Close()
	return "open"
}
