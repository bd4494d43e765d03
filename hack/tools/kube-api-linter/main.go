// SPDX-License-Identifier: Apache-2.0

// Command kube-api-linter holds Go types of an API to the conventions of Kubernetes. It runs the linters of the project of that
// name, which otherwise come inside a golangci-lint of their own.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/analysis/multichecker"
	"sigs.k8s.io/kube-api-linter/pkg/analysis/registry"
	"sigs.k8s.io/kube-api-linter/pkg/config"
	_ "sigs.k8s.io/kube-api-linter/pkg/registration"
)

// enabled are the linters that this API follows. The others ask for a pointer or a least length wherever a zero value could be
// told from an absent one (minlength, requiredfields, optionalfields, nonpointerstructs), for tags that custom resources do
// not use (conditions), for seconds instead of Go's durations (nodurations), and for no phase at all (nophase). Booleans and maps
// are argued one by one in a test of api/v1alpha1.
var enabled = []string{
	"commentstart", "duplicatemarkers", "integers", "maxlength", "nofloats", "nonullable", "noreferences", "notimestamp",
	"optionalorrequired", "ssatags", "statussubresource", "uniquemarkers",
}

func main() {
	analyzers, err := registry.DefaultRegistry().InitializeLinters(config.Linters{Disable: []string{"*"}, Enable: enabled}, config.LintersConfig{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	multichecker.Main(analyzers...)
}
