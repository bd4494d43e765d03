// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// pageLog keeps what a page said and asked for.
type pageLog struct {
	mu      sync.Mutex
	console []string
	failed  []string
	asked   []string
}

// record is called for each event of the tab, in order. It must be quick.
func (l *pageLog) record(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		l.say(string(e.Type), describe(e.Args))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		l.say("error", text)
	case *log.EventEntryAdded:
		l.say(string(e.Entry.Level), strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
	case *network.EventRequestWillBeSent:
		l.asked = append(l.asked, e.Request.URL)
	case *network.EventWebSocketCreated:
		l.asked = append(l.asked, e.URL)
	}
}

func (l *pageLog) say(level, text string) {
	l.console = append(l.console, level+": "+text)
	if level == "error" {
		l.failed = append(l.failed, text)
	}
}

func (l *pageLog) errors() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.failed)
}

func (l *pageLog) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked)
}

// String is the whole console.
func (l *pageLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return "    " + strings.Join(l.console, "\n    ")
}

func describe(args []*runtime.RemoteObject) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.Description
		if len(a.Value) > 0 {
			words[i] = strings.Trim(string(a.Value), `"`)
		}
	}
	return strings.Join(words, " ")
}
