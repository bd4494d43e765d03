// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/internal/kube"
)

// heldMemory is the memory that a process holds, in MB.
func heldMemory(t *testing.T, pid int) float64 { return memoryOf(t, pid, "VmRSS:") }

// peakMemory is the most that a process has held since forgetPeak, in MB.
func peakMemory(t *testing.T, pid int) float64 { return memoryOf(t, pid, "VmHWM:") }

func forgetPeak(t *testing.T, pid int) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func memoryOf(t *testing.T, pid int, kind string) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, kind); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1000
		}
	}
	return 0
}

// cpu is the processor time that a process has used.
func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on Linux.
}

// startAsFollower starts the manager while another process holds the Lease, for an hour: it serves, and runs no controllers.
func (w *world) startAsFollower(t *testing.T) {
	t.Helper()
	now := metav1.NowMicro()
	w.Create(t, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: kube.LeaseName(w.Namespace)},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To(int32(3600)), AcquireTime: &now, RenewTime: &now,
		},
	})
	w.manager.AddArgs("--leader-elect", "--leader-election-namespace", w.Namespace)
	w.manager.Start(t)
}
