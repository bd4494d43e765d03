// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/observer"
)

// settings are the manager's flags.
type settings struct {
	gatewayAddresses []string
	webhookAddress   string
	metricsAddress   string
	healthAddress    string
	kubeconfig       string
	namespace        string
	defaultConfig    types.NamespacedName
	leaderElect      bool
	leaseNamespace   string
	lease            leaseTimes
	trustedProxies   []netip.Prefix
	proxyIdleTimeout time.Duration
	refuseUnknown    bool
	tlsCertFile      string
	tlsKeyFile       string
	drainDelay       time.Duration
	writeTimeout     time.Duration
	engineCalls      int
	logFormat        string
	verbose          bool
	version          bool
	check            string
}

// longestWrite is the time in which the gateway answers a request.
const longestWrite = 10 * time.Second

// leaseTimes are as in other controller managers: how long the others wait for a leader who says nothing, how long it
// tries to say something before it gives up, and how often.
type leaseTimes struct {
	duration, renewDeadline, retryPeriod time.Duration
}

func (l *leaseTimes) register(f *flag.FlagSet) {
	f.DurationVar(&l.duration, "leader-elect-lease-duration", 15*time.Second, "how long the Lease lasts without a renewal before another replica may lead")
	f.DurationVar(&l.renewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew its Lease before it stops leading")
	f.DurationVar(&l.retryPeriod, "leader-elect-retry-period", 2*time.Second, "how often replicas try to renew or get the Lease")
}

// validate says what leader election would stop the manager for.
func (l *leaseTimes) validate() error {
	if l.retryPeriod <= 0 || l.renewDeadline <= l.retryPeriod*12/10 || l.duration <= l.renewDeadline {
		return fmt.Errorf("--leader-elect-lease-duration must be more than --leader-elect-renew-deadline, which must be more than 1.2 times --leader-elect-retry-period")
	}
	return nil
}

// parse reads the flags. Its errors say how to fix what is wrong.
func parse(args []string, getenv func(string) string, out io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("manager", flag.ContinueOnError)
	f.SetOutput(out)
	s.registerServers(f)
	s.registerCluster(f, getenv)
	s.registerOnce(f)
	f.StringVar(&s.logFormat, "log-format", "json", "json or console")
	f.BoolVar(&s.verbose, "verbose", false, "log more")
	if err := refuseGone(args); err != nil {
		return s, err
	}
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q; see --help", f.Arg(0))
	}
	if len(s.gatewayAddresses) == 0 {
		s.gatewayAddresses = []string{":8080"}
	}
	return s, s.validate()
}

// registerServers adds the flags of what listens.
func (s *settings) registerServers(f *flag.FlagSet) {
	f.Func("gateway-bind-address", "`addresses` that the gateway listens on, separated by commas (default :8080)", func(v string) error {
		s.gatewayAddresses = append(s.gatewayAddresses, strings.Split(v, ",")...)
		return nil
	})
	f.StringVar(&s.webhookAddress, "webhook-bind-address", "",
		"`address` that takes webhooks of LiveKit alone, without TLS: for a gateway whose certificate is for another name; empty for none")
	f.StringVar(&s.metricsAddress, "metrics-bind-address", ":8082", "`address` of Prometheus metrics; 0 for none")
	f.StringVar(&s.healthAddress, "health-probe-bind-address", ":8083", "`address` of /healthz and /readyz; 0 for none")
	f.Func("trusted-proxies", "address `ranges`, separated by commas, whose X-Forwarded-For is believed", func(v string) error {
		for _, part := range strings.Split(v, ",") {
			prefix, err := netip.ParsePrefix(strings.TrimSpace(part))
			if err != nil {
				return fmt.Errorf("%q is no address range; write for example 10.0.0.0/8", part)
			}
			s.trustedProxies = append(s.trustedProxies, prefix)
		}
		return nil
	})
	f.DurationVar(&s.proxyIdleTimeout, "proxy-idle-timeout", httpserver.DefaultProxyIdleTimeout,
		"how long --trusted-proxies may keep a connection without a request: longer than they themselves do")
	f.BoolVar(&s.refuseUnknown, "refuse-unknown-hosts", false,
		"answer 404 to domain names that no ConferenceConfig names; addresses, localhost and the names of Services of this cluster still reach the default one")
	f.StringVar(&s.tlsCertFile, "tls-cert-file", "", "`file` with the certificate (PEM) with which the gateway serves TLS, read again when it changes; empty for no TLS")
	f.StringVar(&s.tlsKeyFile, "tls-key-file", "", "`file` with that certificate's private key (PEM)")
	f.DurationVar(&s.drainDelay, "drain-delay", 0, "how long to go on serving after a stop signal while load balancers notice")
}

// registerCluster adds the flags of what the manager does in the cluster.
func (s *settings) registerCluster(f *flag.FlagSet, getenv func(string) string) {
	f.StringVar(&s.kubeconfig, "kubeconfig", getenv("KUBECONFIG"), "`file` with the cluster's address and credentials; empty inside a cluster")
	f.StringVar(&s.namespace, "namespace", "", "the one `namespace` to serve; empty for all")
	f.Func("default-config", "`namespace/name` of the ConferenceConfig for hosts that none names", func(v string) error {
		namespace, name, ok := strings.Cut(v, "/")
		if !ok || namespace == "" || name == "" {
			return fmt.Errorf("write it as namespace/name")
		}
		s.defaultConfig = types.NamespacedName{Namespace: namespace, Name: name}
		return nil
	})
	f.BoolVar(&s.leaderElect, "leader-elect", false, "let one of several replicas run the controllers")
	f.StringVar(&s.leaseNamespace, "leader-election-namespace", "", "`namespace` of the Lease; empty inside a cluster for Convene's own")
	s.lease.register(f)
	f.DurationVar(&s.writeTimeout, "write-timeout", kube.DefaultWriteTimeout,
		"how long a write to the API server may take: more than its admission webhooks do, and at most "+longestWrite.String())
	f.IntVar(&s.engineCalls, "media-server-calls-per-second", observer.DefaultCallsPerSecond, "the most room queries per second to each media server")
}

// registerOnce adds the flags with which the manager does one thing and ends.
func (s *settings) registerOnce(f *flag.FlagSet) {
	f.StringVar(&s.check, "check", "", "ask the gateway at this `URL` whether its API answers, and end: the chart's test")
	f.BoolVar(&s.version, "version", false, "print the version and end")
}

// flagsGone has the flags of earlier versions, each with the end of a sentence: what to do instead.
var flagsGone = map[string]string{
	"replica-port":            "is gone: replicas ask each other nothing any more; leave it out, and close the port",
	"release":                 "is gone: objects have no finalizer any more; leave it out, and delete what you want to delete",
	"engine-calls-per-second": "is --media-server-calls-per-second now",
}

// refuseGone refuses a flag that has gone, before the flag package calls it undefined.
func refuseGone(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if why, gone := flagsGone[name]; gone && strings.HasPrefix(arg, "-") {
			return fmt.Errorf("--%s %s", name, why)
		}
	}
	return nil
}

// validate says what cannot be, or not together.
func (s *settings) validate() error {
	if s.logFormat != "json" && s.logFormat != "console" {
		return fmt.Errorf("--log-format must be json or console")
	}
	if (s.tlsCertFile == "") != (s.tlsKeyFile == "") {
		return fmt.Errorf("--tls-cert-file and --tls-key-file belong together; set both or neither")
	}
	if s.engineCalls < 1 {
		return fmt.Errorf("--media-server-calls-per-second must be 1 or more")
	}
	if s.writeTimeout <= 0 || s.writeTimeout > longestWrite {
		return fmt.Errorf("--write-timeout must be more than 0 and at most %s, in which a request to the API is answered", longestWrite)
	}
	if s.proxyIdleTimeout <= 0 {
		return fmt.Errorf("--proxy-idle-timeout must be more than 0; write for example 620s")
	}
	return s.lease.validate()
}
