// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twitchtv/twirp"
)

// The result is ok, or Twirp's code of the error; a call that got no answer counts as internal.
var calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "convene_media_server_call_duration_seconds",
	Help: "Duration of calls to the media server, by verb and result.",
	// From a listing on the loopback interface to past the 3 s that LiveKit needs to miss a node.
	Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
}, []string{"verb", "result"})

// Metrics returns what is measured of the calls of all Engines of this process, to be registered once.
func Metrics() prometheus.Collector { return calls }

func observe(next twirp.Method) twirp.Method {
	return func(ctx context.Context, request any) (any, error) {
		began := time.Now()
		response, err := next(ctx, request)
		verb, _ := twirp.MethodName(ctx)
		calls.WithLabelValues(verb, result(err)).Observe(time.Since(began).Seconds())
		return response, err
	}
}

func result(err error) string {
	if err == nil {
		return "ok"
	}
	if answer := twirp.Error(nil); errors.As(err, &answer) {
		return string(answer.Code())
	}
	return string(twirp.Internal)
}
