// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/controllers"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/httpapi"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/moderation"
	"convene.dev/convene/internal/source/sandbox"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/web"
)

const drainTimeout = 15 * time.Second

// resolvConf says in which cluster the manager is.
const resolvConf = "/etc/resolv.conf"

// run is the only place where everything meets.
func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	s, err := parse(args, getenv, out)
	if err != nil {
		return err
	}
	if s.version {
		fmt.Fprintf(out, "convene %s (%s)\n", version, commit)
		return nil
	}
	if s.check != "" {
		return check(ctx, s.check)
	}
	log := logger(s, out)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	config, err := restConfig(s.kubeconfig)
	if err != nil {
		return err
	}
	if s.leaderElect && s.leaseNamespace == "" {
		if s.leaseNamespace, err = ownNamespace(); err != nil {
			return err
		}
	}
	return serve(ctx, s, config, log)
}

// serve runs the gateway and the cache in a manager without leader election, so that they outlive the loss of a
// Lease, and the controllers beside them.
func serve(ctx context.Context, s settings, config *rest.Config, log logr.Logger) error {
	cluster := kube.NewClock()
	config.Wrap(kube.WithAnswerTimeout(s.writeTimeout))
	config.Wrap(cluster.Transport)
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	direct, err := kube.NewObjects(config, httpClient, scheme, s.namespace, log.WithName("objects"))
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Logger: log,
		Cache:  cacheOptions(s, direct),
		NewCache: func(config *rest.Config, o cache.Options) (cache.Cache, error) {
			c, err := cache.New(config, o)
			return endingCache{c, ctx}, err
		},
		Metrics:                 metricsserver.Options{BindAddress: s.metricsAddress},
		HealthProbeBindAddress:  s.healthAddress,
		GracefulShutdownTimeout: ptr.To(s.drainDelay + drainTimeout + 5*time.Second),
	})
	if err != nil {
		return err
	}
	p := &parts{
		settings: s, config: config, scheme: scheme, log: log, clock: cluster, cache: mgr.GetCache(), direct: direct, served: make(chan struct{}),
	}
	if err := p.build(ctx, httpClient); err != nil {
		return err
	}
	runnables := []manager.Runnable{p.tenants, gatewayRunner{p.server, p.served}, controllerRunner{p}, p.probe, garbage{p.cache}}
	if p.webhooks != nil {
		runnables = append(runnables, p.webhooks)
	}
	for _, r := range runnables {
		if err := mgr.Add(r); err != nil {
			return err
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	ready := func(r *http.Request) error {
		if err := p.server.Check(r); err != nil {
			return errors.Join(err, direct.Err())
		}
		return nil
	}
	if err := mgr.AddReadyzCheck("gateway", ready); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// endingCache does not keep a manager that has to stop: as long as a cache has not been filled, controller-runtime's group of caches spins until
// the process is killed.
type endingCache struct {
	cache.Cache
	manager context.Context
}

// WaitForCacheSync is also over when the manager has to stop.
func (c endingCache) WaitForCacheSync(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.manager, cancel)()
	return c.Cache.WaitForCacheSync(ctx) || c.manager.Err() != nil
}

// parts of the manager, made once.
type parts struct {
	settings
	config     *rest.Config
	scheme     *runtime.Scheme
	log        logr.Logger
	clock      *kube.Clock
	cache      cache.Cache
	objects    client.Client // of the controllers: reads from the cache, its own writes included
	direct     *kube.Objects // without a cache
	tenants    *tenant.Registry
	directory  *directory.Directory
	conference *conference.Service
	probe      *kube.Probe
	server     *httpserver.Server
	// served is closed when the server has answered its last request.
	served chan struct{}
	// webhooks is nil where the gateway takes them.
	webhooks *httpserver.Server
	hints    hints
	// leader is nil where no replicas elect one of them.
	leader *kube.Leader
}

// gatewayRunner runs the gateway, and closes served when it has answered its last request.
type gatewayRunner struct {
	*httpserver.Server
	served chan<- struct{}
}

// Start serves until the context ends and the gateway has drained.
func (g gatewayRunner) Start(ctx context.Context) error {
	defer close(g.served)
	return g.Server.Start(ctx)
}

func (p *parts) build(ctx context.Context, httpClient *http.Client) error {
	objects, err := client.New(p.config, client.Options{HTTPClient: httpClient, Scheme: p.scheme, Cache: &client.CacheOptions{
		Reader: p.cache, EnableReadYourWritesConsistency: ptr.To(true),
	}})
	if err != nil {
		return err
	}
	p.objects = &kube.BoundedClient{Client: objects}
	p.probe = kube.NewProbe(p.direct, p.namespace)
	watches, err := corev1client.NewForConfigAndClient(p.config, httpClient)
	if err != nil {
		return err
	}
	evaluator, err := sandbox.Self()
	if err != nil {
		return err
	}
	if p.directory, err = directory.New(ctx, directory.Options{Cache: p.cache, Now: p.clock.Now, IsFull: p.direct.IsFull}); err != nil {
		return err
	}
	p.tenants = tenant.NewRegistry(tenant.Options{
		Cache: p.cache, Client: watches.RESTClient(), Dial: livekit.New, Evaluate: evaluator.EvaluateConfigJS,
		Namespace: p.namespace, UnknownHosts: p.unknownHosts(), Served: p.served,
		PlacesOf: p.directory.PlacesOf,
	})
	p.conference = conference.New(p.direct, p.directory, p.clock.Now)
	if p.leaderElect {
		if p.leader, err = p.newLeader(); err != nil {
			return err
		}
	}
	return p.buildServers()
}

// newLeader makes the lock for elections. When the holder of the Lease has gone, another manager gets the Lease one retry after the term
// has ended. The grace is a whole term, so a failover takes no readiness away.
func (p *parts) newLeader() (*kube.Leader, error) {
	return kube.NewLeader(kube.LeaderOptions{
		Config: p.config, Namespace: p.leaseNamespace, Served: p.namespace, RenewDeadline: p.lease.renewDeadline, Grace: p.lease.duration,
		Log: p.log.WithName("leader"),
	})
}

// unknownHosts says how hosts are answered that no ConferenceConfig names.
func (p *parts) unknownHosts() tenant.UnknownHosts {
	unknown := tenant.UnknownHosts{Default: p.defaultConfig, Refuse: p.refuseUnknown}
	data, err := os.ReadFile(resolvConf)
	if err != nil {
		p.log.Info("Unknown cluster domain; assuming cluster.local", "cause", err.Error())
	}
	namespace, _ := ownNamespace() // There is none outside of a cluster.
	unknown.Cluster = tenant.ParseResolvConf(data).Of(namespace)
	return unknown
}

// buildServers makes the servers of the gateway, which serve once the tenants are ready.
func (p *parts) buildServers() error {
	handler, err := p.handler()
	if err != nil {
		return err
	}
	var leads healthz.Checker
	if p.leader != nil {
		leads = p.leader.Check
	}
	p.server = httpserver.New(httpserver.Options{
		Addresses: p.gatewayAddresses, Handler: handler, Ready: p.tenants.Ready(), CertFile: p.tlsCertFile, KeyFile: p.tlsKeyFile, Leads: leads,
		DrainDelay: p.drainDelay, DrainTimeout: drainTimeout,
		TrustedProxies: p.trustedProxies, ProxyIdleTimeout: p.proxyIdleTimeout, Log: p.log.WithName("gateway"),
	})
	if p.webhookAddress != "" {
		p.webhooks = httpserver.New(httpserver.Options{
			Addresses: []string{p.webhookAddress}, Handler: webhooksAlone(handler), Ready: p.tenants.Ready(),
			DrainDelay: p.drainDelay, DrainTimeout: drainTimeout, Log: p.log.WithName("webhooks"),
		})
	}
	return nil
}

// webhooksAlone lets nothing through to a handler but webhooks, which are signed.
func webhooksAlone(handler http.Handler) http.Handler {
	mux := http.NewServeMux()
	for _, path := range web.WebhookPaths {
		mux.Handle(path, handler)
	}
	return mux
}

// meetings is what the handlers use of Meetings: the directory to read, the service to change them.
type meetings struct {
	*directory.Directory
	*conference.Service
}

func (p *parts) handler() (http.Handler, error) {
	metrics.Registry.MustRegister(livekit.Metrics(), buildInfo(), p.probe.Age(), p.direct)
	metrics.Registry.MustRegister(controllers.Metrics()...)
	meetings := meetings{p.directory, p.conference}
	admission := admission.New(meetings)
	moderation := moderation.New(meetings, admission)
	api := httpapi.New(httpapi.Options{Meetings: meetings, Moderator: moderation, ClusterTime: p.clock.Now, Registerer: metrics.Registry})
	log := p.log.WithName("http")
	pages, webhooks, err := web.New(web.Options{
		Tenants: p.tenants, Meetings: meetings, Admission: admission, Moderation: moderation, Hint: p.hints.give, ClusterTime: p.clock.Now,
		Registerer: metrics.Registry,
	})
	if err != nil {
		return nil, err
	}
	router := httpserver.RouterOptions{Tenants: p.tenants, Log: log, TrustedProxies: p.trustedProxies}
	return httpserver.NewRouter(router, api, pages, webhooks), nil
}

// cacheOptions keep out of memory what the manager does not read.
func cacheOptions(s settings, objects *kube.Objects) cache.Options {
	o := cache.Options{DefaultTransform: kube.Transform, NewInformer: objects.NewInformer}
	if s.namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	}
	return o
}

// logger writes JSON lines, or lines for people.
func logger(s settings, out io.Writer) logr.Logger {
	level := zapcore.InfoLevel
	if s.verbose {
		level = zapcore.DebugLevel
	}
	return zap.New(zap.UseDevMode(s.logFormat == "console"), zap.WriteTo(out), zap.Level(level), zap.StacktraceLevel(zapcore.PanicLevel))
}

// namespaceFile says in which namespace a pod runs.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func ownNamespace() (string, error) {
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", fmt.Errorf("outside of a cluster, name the namespace of the Leases with --leader-election-namespace: %w", err)
	}
	return string(namespace), nil
}

// restConfig finds the cluster: the kubeconfig where one is named, else the one that the pod runs in. Client-side
// throttling is off, because the API server's own fairness knows better.
func restConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster can be found; name a file with --kubeconfig or KUBECONFIG: %w", err)
	}
	config.QPS = -1
	config.UserAgent = "convene/" + version
	return config, nil
}
