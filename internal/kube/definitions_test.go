// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestMissingFields takes each field out of the definitions that a real API server serves, one at a time.
func TestMissingFields(t *testing.T) {
	api := discovery.NewDiscoveryClientForConfigOrDie(testkit.ControlPlane(t).Config).OpenAPIV3()
	told := 0
	d := NewDefinitions(api, logr.Discard(), func() { told++ })
	if _, known := d.Missing(); known {
		t.Error("what the cluster defines is known before it was asked")
	}
	// A control plane publishes its document a moment after it has started.
	testkit.Eventually(t, 10*time.Second, func() error {
		d.compare()
		if missing, known := d.Missing(); !known || len(missing) > 0 {
			return fmt.Errorf("the cluster has the definitions of this version: known %v, missing %q", known, missing)
		}
		return nil
	})
	d.compare()
	if told == 0 {
		t.Error("nobody was told")
	}

	served, err := openapi3.NewRoot(api).GVSpec(v1alpha1.GroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	var takeOut func(path string, from *spec.Schema)
	takeOut = func(path string, from *spec.Schema) {
		if from.Items != nil {
			from = from.Items.Schema
		}
		for name, property := range from.Properties {
			fields++
			delete(from.Properties, name)
			if missing := missingFields(served); !slices.Equal(missing, []string{path + name}) {
				t.Errorf("without %s%s these are missing: %q", path, name, missing)
			}
			from.Properties[name] = property
			takeOut(path+name+".", &property)
		}
	}
	for _, kind := range []string{"ConferenceConfig", "MediaServer", "Meeting"} {
		takeOut(kind+" ", served.Components.Schemas["dev.convene.v1alpha1."+kind])
	}
	if fields < 200 {
		t.Errorf("only %d fields were taken out", fields)
	}
}
