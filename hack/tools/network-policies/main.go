// network-policies enforces NetworkPolicies on the test node, as a cluster's network plugin does: iptables hands the first
// packet of every connection of a pod to this program, and the engine of sigs.k8s.io/kube-network-policies judges it.
//
// It has a data path of its own, because the project's own needs NFT_QUEUE in the kernel, which small kernels lack.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/florianl/go-nfqueue/v2"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/api"
	"sigs.k8s.io/kube-network-policies/pkg/network"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
	"sigs.k8s.io/kube-network-policies/pkg/podinfo"
)

const queue = 98

func main() {
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	node := flag.String("node", "", "the name of this node")
	pods := flag.String("pods", "", "the network of this node's pods, with the node's own address in it: 10.244.0.1/24")
	ready := flag.String("ready-file", "", "a file that is made once policies are enforced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *node, *pods, *ready); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig, node, pods, ready string) error {
	network, err := netip.ParsePrefix(pods)
	if err != nil {
		return fmt.Errorf("--pods: %w", err)
	}
	j, err := newJudge(ctx, kubeconfig, node, network)
	if err != nil {
		return err
	}
	if err := j.listen(ctx); err != nil {
		return err
	}
	if err := divert(network); err != nil {
		return err
	}
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// divert hands the first packets of connections of pods to the queue.
func divert(pods netip.Prefix) error {
	own, all := pods.Addr().String(), pods.Masked().String()
	to := fmt.Sprintf("-j NFQUEUE --queue-num %d", queue)
	for _, rule := range []string{
		"POSTROUTING -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT",
		// The kubelet's probes: a node always reaches its own pods.
		"POSTROUTING -s " + own + " -j ACCEPT",
		"POSTROUTING -s " + all + " " + to,
		"POSTROUTING -d " + all + " " + to,
		// What runs on the node itself, as the API server does.
		"INPUT -s " + all + " -m conntrack --ctstate NEW " + to,
	} {
		args := append([]string{"-w", "-t", "mangle", "-A"}, strings.Fields(rule)...)
		if out, err := exec.Command("iptables", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("iptables %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// A judge decides about packets by the policies of the cluster.
type judge struct {
	engine *networkpolicy.PolicyEngine
	known  api.PodInfoProvider
	node   netip.Addr
	pods   netip.Prefix
}

func newJudge(ctx context.Context, kubeconfig, node string, pods netip.Prefix) (*judge, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	namespaces, podInformer := factory.Core().V1().Namespaces(), factory.Core().V1().Pods()
	resolver, err := podinfo.NewInformerResolver(podInformer.Informer())
	if err != nil {
		return nil, err
	}
	known := podinfo.NewInformerProvider(podInformer, namespaces, nil, []podinfo.IPResolver{resolver})
	standard := networkpolicy.NewStandardNetworkPolicy(node, namespaces, podInformer, factory.Networking().V1().NetworkPolicies())
	engine := networkpolicy.NewPolicyEngine(known, []api.PolicyEvaluator{standard})
	engine.SetDataplaneSyncCallbacks(func() {})
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, fmt.Errorf("cannot read the %v of the cluster", kind)
		}
	}
	return &judge{engine: engine, known: known, node: pods.Addr(), pods: pods}, nil
}

func (j *judge) listen(ctx context.Context) error {
	q, err := nfqueue.Open(&nfqueue.Config{
		NfQueue: queue, MaxPacketLen: 128, MaxQueueLen: 1024, Copymode: nfqueue.NfQnlCopyPacket,
		Flags: nfqueue.NfQaCfgFlagGSO, WriteTimeout: 100 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("cannot open the queue of packets: %w", err)
	}
	decide := func(a nfqueue.Attribute) int {
		payload := append([]byte(nil), *a.Payload...)
		go func() {
			verdict := nfqueue.NfDrop
			if j.allows(ctx, payload) {
				verdict = nfqueue.NfAccept
			}
			if err := q.SetVerdict(*a.PacketID, verdict); err != nil {
				log.Printf("packet %d: %v", *a.PacketID, err)
			}
		}()
		return 0
	}
	return q.RegisterWithErrorFunc(ctx, decide, func(err error) int {
		if ctx.Err() == nil {
			log.Printf("queue: %v", err)
		}
		return 0
	})
}

func (j *judge) allows(ctx context.Context, payload []byte) bool {
	packet, err := network.ParsePacket(payload)
	if err != nil {
		log.Printf("refused: %v", err)
		return false
	}
	ok := j.wait(ctx, packet.SrcIP.String()) && j.wait(ctx, packet.DstIP.String())
	if ok {
		ok, err = j.engine.EvaluatePacket(ctx, &packet)
	}
	if err != nil || !ok {
		log.Printf("refused: %s %v", packet.String(), err)
	}
	return ok && err == nil
}

// wait waits for the API to show which pod an address belongs to: a new pod must not slip past the policies.
func (j *judge) wait(ctx context.Context, address string) bool {
	addr, err := netip.ParseAddr(address)
	if err != nil || addr == j.node || !j.pods.Contains(addr) {
		return err == nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		if _, ok := j.known.GetPodInfoByIP(address); ok {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}
