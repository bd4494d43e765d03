// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"convene.dev/convene/api/v1alpha1"
)

// compareEvery is how often the cluster is asked whether its CRDs have changed.
const compareEvery = 30 * time.Second

// Definitions compares the cluster's CRDs of Convene's kinds with the fields that this manager knows. The API server drops a field
// that its CRD does not have. Definitions asks for the OpenAPI document of the cluster, which every account may read.
type Definitions struct {
	api     openapi.Client
	changed func()
	log     logr.Logger

	// compared is the URL of the document that was compared last; it has a hash of the document.
	compared string
	// refused is whether the log has it that the API server refuses the document.
	refused bool

	mu      sync.Mutex
	known   bool
	missing []string
}

// NewDefinitions compares CRDs while it runs, and calls changed after each comparison that found something new.
func NewDefinitions(api openapi.Client, log logr.Logger, changed func()) *Definitions {
	return &Definitions{api: api, log: log, changed: changed}
}

// Start compares until the context ends.
func (d *Definitions) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(context.Context) { d.compare() }, compareEvery)
	return nil
}

// Missing lists the fields that this manager knows and the cluster's CRDs lack, each with its kind. Known is false as long as the
// cluster has not told what its CRDs have.
func (d *Definitions) Missing() (fields []string, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.missing, d.known
}

// compare keeps what it knows while the API server does not answer.
func (d *Definitions) compare() {
	paths, err := d.api.Paths()
	if AnswerOf(err) == Refused && !d.refused {
		d.refused = true
		d.log.Error(err, "Cannot read the schemas of the CRDs; outdated CRDs will only show as refused writes")
	}
	document, ok := paths["apis/"+v1alpha1.GroupVersion.String()]
	if !ok || document.ServerRelativeURL() == d.compared {
		return
	}
	served, err := openapi3.NewRoot(d.api).GVSpec(v1alpha1.GroupVersion)
	if err != nil {
		return
	}
	d.compared = document.ServerRelativeURL()
	missing := missingFields(served)
	d.mu.Lock()
	same := d.known && slices.Equal(d.missing, missing)
	d.known, d.missing = true, missing
	d.mu.Unlock()
	if same {
		return
	}
	if len(missing) > 0 {
		d.log.Error(nil, "The cluster's CRDs are older than Convene: apply the CRDs of this version of Convene", "missing", missing)
	}
	d.changed()
}

// missingFields lists the fields of Convene's kinds that a document does not have. Where a field is missing with all that is in it, the
// field alone is listed.
func missingFields(served *spec3.OpenAPI) (missing []string) {
	for _, o := range []any{v1alpha1.ConferenceConfig{}, v1alpha1.MediaServer{}, v1alpha1.Meeting{}} {
		kind := reflect.TypeOf(o)
		var defined *spec.Schema
		if served.Components != nil {
			defined = served.Components.Schemas["dev.convene."+v1alpha1.GroupVersion.Version+"."+kind.Name()]
		}
		missing = appendMissing(missing, kind.Name()+" ", kind, defined)
	}
	return missing
}

// appendMissing appends the JSON paths, below the path that is given, of the fields that a Go type has and a schema lacks.
func appendMissing(missing []string, path string, t reflect.Type, defined *spec.Schema) []string {
	if defined == nil {
		defined = &spec.Schema{}
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()), t == reflect.TypeFor[metav1.ObjectMeta]():
		// Its JSON does not follow from its fields, or every API server knows it.
	case t.Kind() == reflect.Pointer:
		return appendMissing(missing, path, t.Elem(), defined)
	case t.Kind() == reflect.Slice && defined.Items != nil:
		return appendMissing(missing, path, t.Elem(), defined.Items.Schema)
	case t.Kind() == reflect.Map && defined.AdditionalProperties != nil:
		return appendMissing(missing, path, t.Elem(), defined.AdditionalProperties.Schema)
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			property, ok := defined.Properties[name]
			switch {
			case name == "":
				missing = appendMissing(missing, path, f.Type, defined) // inline
			case ok:
				missing = appendMissing(missing, path+name+".", f.Type, &property)
			default:
				missing = append(missing, path+name)
			}
		}
	}
	return missing
}
