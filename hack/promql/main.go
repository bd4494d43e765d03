// SPDX-License-Identifier: Apache-2.0

// Command promql parses every expression of the alerts and the dashboard, which are its arguments. It is a module of
// its own, because Prometheus brings much that nothing else here needs.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// file is a PrometheusRule or a Grafana dashboard, as far as they hold expressions.
type file struct {
	Spec struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

func main() {
	count, wrong := 0, 0
	for _, name := range os.Args[1:] {
		raw, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		var f file
		if err := yaml.Unmarshal(raw, &f); err != nil {
			fail(fmt.Errorf("%s: %w", name, err))
		}
		for where, expression := range f.expressions() {
			count++
			// Grafana fills it in.
			expression = strings.ReplaceAll(expression, "$__rate_interval", "5m")
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(expression); err != nil {
				wrong++
				fmt.Fprintf(os.Stderr, "%s, %s: %v\n", name, where, err)
			}
		}
	}
	if count == 0 || wrong > 0 {
		fail(fmt.Errorf("%d of %d expressions are wrong", wrong, count))
	}
}

func (f file) expressions() map[string]string {
	all := map[string]string{}
	for _, g := range f.Spec.Groups {
		for _, r := range g.Rules {
			all["alert "+r.Alert] = r.Expr
		}
	}
	for _, p := range f.Panels {
		for i, t := range p.Targets {
			all[fmt.Sprintf("panel %s, %d", p.Title, i)] = t.Expr
		}
	}
	return all
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "promql:", err)
	os.Exit(1)
}
